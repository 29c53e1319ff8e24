"""bots.evaluators.catalogue: evaluators by name, and errors for unknown or unsuitable ones."""

from __future__ import annotations

import pytest

from arena.bots.api.engine_spec import BadSpec
from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.evaluators.linear import BadWeights
from arena.games.core import Player
from arena.games.hexapawn import Hexapawn
from arena.games.riskless import Riskless, RisklessPosition
from arena.games.tictactoe import TicTacToe
from tests.games.nested import from_values
from tests.solved.conftest import make_path_map

PATH = Riskless(make_path_map(5, 6, 20, 50))


def test_plain_is_the_games_own_estimate_in_hundredths() -> None:
    game = PATH
    assert evaluator_for(game)(RisklessPosition((6, 5, -3, -1, 2), Player.MAXIE, 0)) == 900
    assert evaluator_for(Hexapawn())(Hexapawn().position_from_text("B../.B./WWW maxie 2")) == 100
    tree = from_values([7, 8])
    assert evaluator_for(tree)(tree.successor(tree.start(), 0)) == 7


def test_unknown_evaluators() -> None:
    with pytest.raises(BadSpec, match="no evaluator is called 'x': choose from plain, features, outcomes"):
        evaluator_for(TicTacToe(), "x")
    with pytest.raises(BadSpec, match="hexapawn has no evaluation features"):
        evaluator_for(Hexapawn(), "w.toml")
    with pytest.raises(BadWeights, match="No such file"):
        evaluator_for(TicTacToe(), "nowhere.toml")
    assert evaluator_for(Hexapawn(), "features")(Hexapawn().start()) == 0
