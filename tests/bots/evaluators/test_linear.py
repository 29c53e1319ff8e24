from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arena.bots.evaluators.catalogue import (
    evaluator_for,
    find_built_in_weights_file,
    get_feature_function_and_names,
)
from arena.bots.evaluators.linear import BadWeights, load_weights, make_linear_evaluator
from arena.bots.search.search_values import ESTIMATE_LIMIT
from arena.games.core import Player
from arena.games.riskless import Riskless, RisklessPosition
from arena.games.tictactoe import TicTacToe, TicTacToePosition
from arena.maps.loader import load_map
from tests.solved.conftest import make_path_map

PATH = Riskless(make_path_map(5, 6, 20, 50))
RING = Riskless(load_map("ring:6"))
GRID = Riskless(load_map("grid:3x3"))


def test_an_estimate_is_never_a_win() -> None:
    huge = make_linear_evaluator(lambda _: (10**6,), ("f",), {"f": 10**6})
    assert huge(None) == ESTIMATE_LIMIT
    with pytest.raises(KeyError):
        make_linear_evaluator(lambda _: (1, 2), ("f", "g"), {"f": 1})


@pytest.mark.parametrize("game", [PATH, GRID, TicTacToe()], ids=["path", "grid", "tictactoe"])
def test_shipped_weights_fit_their_features(game: Any) -> None:
    _, names = get_feature_function_and_names(game)
    weights = load_weights(find_built_in_weights_file(game), names)
    assert set(weights) == set(names)
    assert weights[names[0]] > 0


def test_lines_and_rings_have_weights_of_their_own() -> None:
    files = [find_built_in_weights_file(game).name for game in (PATH, RING, GRID)]
    assert files == ["riskless-lines.toml", "riskless-rings.toml", "riskless.toml"]


def test_the_projects_weights_prefer_the_better_position() -> None:
    evaluate = evaluator_for(PATH, "features")
    assert evaluate(RisklessPosition((6, 5, 0, -1, 0), Player.MAXIE, 0)) > 0


def test_a_weights_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[weights]\nopen = 0\nones = 0\ntwos = 7\ncenter = 0\n", encoding="utf-8")
    assert evaluator_for(TicTacToe(), str(path))(TicTacToePosition("XX..O....")) == 7


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("weights", "not valid TOML"),
        ("x = 1", ":1: x: unknown key; choose from weights"),
        ("", ": the key weights is missing"),
        ("[weights]\nopen = 1", ":1: weights: the key ones is missing"),
        (
            "[weights]\nopen = 1.5\nones = 0\ntwos = 0\ncenter = 0",
            ":2: weights.open: expected a whole number, got a number",
        ),
        ("[weights]\nfoo = 1", ":2: weights.foo: unknown key; choose from open, ones"),
    ],
)
def test_bad_weights(tmp_path: Path, content: str, why: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadWeights, match=f"mine.*{why}"):
        evaluator_for(TicTacToe(), str(path))
