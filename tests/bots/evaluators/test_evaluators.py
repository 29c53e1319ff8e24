"""Evaluators: their scale, their symmetry, their features on positions that were counted by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from bots.evaluators import BadWeights, UnknownEvaluator, evaluator_for, riskless, tictactoe
from bots.evaluators.catalogue import features_of
from bots.evaluators.linear import weighted
from bots.evaluators.weights import FOLDER, load_weights
from bots.search.values import ESTIMATE_LIMIT
from games.board import RisklessMap
from games.core import Player
from games.hexapawn import Hexapawn
from games.riskless import Armies, Riskless
from games.tictactoe import Board, TicTacToe
from tests.bots.search.problems import Case, riskless_cases, tictactoe_cases
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


def test_features_of_riskless_by_hand() -> None:
    game = path_of_five()
    found = riskless.features(game)(Armies((6, 5, -3, -1, 2), Player.MAXIE, 0))
    assert dict(zip(riskless.NAMES, found, strict=True)) == {
        "armies": 13 - 4,
        "territories": 3 - 2,
        "borders": (5 + 2) - (3 + 1),  # b and e; c and d
        "safe": 1 - 0,  # a: its one neighbour is Maxie's
        "threats": (3 + 1) - 0,  # b could take c, e could take d; nobody could take b, and d's 1 not e
        "waste": 1,  # a is at the cap
        "goal": 169 // 20 - 16 // 20,
    }


def test_features_of_tictactoe_by_hand() -> None:
    found = tictactoe.features(TicTacToe())(Board("XX..O...."))
    assert dict(zip(tictactoe.NAMES, found, strict=True)) == {
        "open": 4 - 4,  # X: top, bottom, left, right; O: middle row, bottom, right, one diagonal
        "ones": 1 - 2,  # the left column; the middle row and the diagonal
        "twos": 1,
        "center": -1,
    }


@given(case=riskless_cases())
def test_riskless_is_fair(case: Case) -> None:
    """The mirror image of a position, sides exchanged, has the opposite value."""
    position = case.position
    mirror = Armies(tuple(-n for n in position.armies), position.player.opponent, position.ply)
    for name in ("plain", "features"):
        evaluate = evaluator_for(case.game, name)
        assert evaluate(position) == -evaluate(mirror)
        assert abs(evaluate(position)) <= ESTIMATE_LIMIT


@given(case=tictactoe_cases())
def test_tictactoe_is_fair(case: Case) -> None:
    cells = case.position.cells
    mirror = Board(cells.translate(str.maketrans("XO", "OX")))
    for name in ("plain", "features"):
        evaluate = evaluator_for(case.game, name)
        assert evaluate(case.position) == -evaluate(mirror)


def test_plain_is_the_games_own_estimate_in_hundredths() -> None:
    game = path_of_five()
    assert evaluator_for(game)(Armies((6, 5, -3, -1, 2), Player.MAXIE, 0)) == 900
    assert evaluator_for(Hexapawn())(Hexapawn().position_from_text("B../.B./WWW maxie 2")) == 100
    tree = from_values([7, 8])
    assert evaluator_for(tree)(tree.successor(tree.start(), 0)) == 7


def test_an_estimate_is_never_a_win() -> None:
    huge = weighted(lambda _: (10**6,), ("f",), {"f": 10**6})
    assert huge(None) == ESTIMATE_LIMIT
    with pytest.raises(KeyError):
        weighted(lambda _: (1, 2), ("f", "g"), {"f": 1})


@pytest.mark.parametrize("game", [path_of_five(), TicTacToe()], ids=lambda game: game.name)
def test_shipped_weights_fit_their_features(game: Any) -> None:
    found = features_of(game)
    assert found is not None
    _, names = found
    weights = load_weights(FOLDER / f"{game.name}.toml", names)
    assert set(weights) == set(names)
    assert all(weights.values())


def test_a_weights_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[weights]\nopen = 0\nones = 0\ntwos = 7\ncenter = 0\n", encoding="utf-8")
    assert evaluator_for(TicTacToe(), str(path))(Board("XX..O....")) == 7


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("weights", "not TOML"),
        ("x = 1", "there must be a table"),
        ("[weights]\nopen = 1", "weights.ones must be a whole number"),
        ("[weights]\nopen = 1.5\nones = 0\ntwos = 0\ncenter = 0", "weights.open must be a whole number"),
        ("[weights]\nfoo = 1", "weights.foo: no such feature: there are open, ones"),
    ],
)
def test_bad_weights(tmp_path: Path, content: str, why: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadWeights, match=f"mine.*{why}"):
        evaluator_for(TicTacToe(), str(path))


def test_unknown_evaluators() -> None:
    with pytest.raises(UnknownEvaluator, match="no evaluator is called 'x': there are plain, features"):
        evaluator_for(TicTacToe(), "x")
    with pytest.raises(UnknownEvaluator, match="hexapawn has no features"):
        evaluator_for(Hexapawn(), "w.toml")
    with pytest.raises(BadWeights, match="cannot read weights"):
        evaluator_for(TicTacToe(), "nowhere.toml")
    assert evaluator_for(Hexapawn(), "features")(Hexapawn().start()) == 0
