"""Evaluators: their scale, their symmetry, their features on positions that were counted by hand."""

from __future__ import annotations

import pytest

from bots.evaluators import BadWeights, UnknownEvaluator, evaluator_for
from games.board import RisklessMap
from games.core import Player
from games.hexapawn import Hexapawn
from games.riskless import Armies, Riskless
from games.tictactoe import TicTacToe
from tests.games.nested import from_values


def path_of_five() -> Riskless:
    return Riskless(
        RisklessMap(
            name="path",
            territories=("a", "b", "c", "d", "e"),
            neighbours=((1,), (0, 2), (1, 3), (2, 4), (3,)),
            territory_cap=6,
            armies_to_win=20,
            ply_limit=50,
            start=(1, 0, 0, 0, -1),
            places=((0, 0),) * 5,
        )
    )


def test_plain_is_the_games_own_estimate_in_hundredths() -> None:
    game = path_of_five()
    assert evaluator_for(game)(Armies((6, 5, -3, -1, 2), Player.MAXIE, 0)) == 900
    assert evaluator_for(Hexapawn())(Hexapawn().position_from_text("B../.B./WWW maxie 2")) == 100
    tree = from_values([7, 8])
    assert evaluator_for(tree)(tree.successor(tree.start(), 0)) == 7


def test_unknown_evaluators() -> None:
    with pytest.raises(
        UnknownEvaluator, match="no evaluator is called 'x': there are plain, features, outcomes"
    ):
        evaluator_for(TicTacToe(), "x")
    with pytest.raises(UnknownEvaluator, match="hexapawn has no features"):
        evaluator_for(Hexapawn(), "w.toml")
    with pytest.raises(BadWeights, match="cannot read weights"):
        evaluator_for(TicTacToe(), "nowhere.toml")
    assert evaluator_for(Hexapawn(), "features")(Hexapawn().start()) == 0
