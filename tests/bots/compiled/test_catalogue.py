from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from arena.bots.compiled.availability import has_compiled_search
from arena.bots.compiled.catalogue import compile_game, weights_for
from arena.bots.evaluators.catalogue import get_feature_function_and_names
from arena.bots.evaluators.linear import BadWeights
from arena.games.hexapawn import Hexapawn
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe
from arena.maps.loader import load_map


@pytest.mark.parametrize(
    ("game", "there"),
    [
        (TicTacToe(), True),
        (Riskless(load_map("world")), True),
        (Riskless(load_map("grid:8x8")), True),
        (Riskless(load_map("ring:65")), False),
        (Hexapawn(), False),
    ],
    ids=["tictactoe", "world", "grid:8x8", "ring:65", "hexapawn"],
)
def test_a_compiled_game_exists_exactly_for_the_games_that_have_a_compiled_search(
    game: Any, there: bool
) -> None:
    assert has_compiled_search(game) is there
    weights = {} if isinstance(game, Hexapawn) else dict.fromkeys(get_feature_function_and_names(game)[1], 0)
    assert (compile_game(game, weights) is not None) is there


@pytest.mark.parametrize("game", [TicTacToe(), Riskless(load_map("m1"))], ids=lambda game: game.name)
def test_weights_are_found_by_the_name_of_the_evaluator(game: Any) -> None:
    _, names = get_feature_function_and_names(game)
    for evaluator in ("plain", "features"):
        weights = weights_for(game, evaluator)
        assert isinstance(weights, Mapping)
        assert set(weights) == set(names)
        assert evaluator == "features" or sum(weights.values()) == 100
    with pytest.raises(BadWeights, match="No such file"):
        weights_for(game, "nowhere.toml")
