"""Limits of the compiled searches, without loading them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from arena.bots.compiled.availability import EXTRA, has_compiled_search, has_engine_extra
from arena.bots.compiled.catalogue import compile_game, weights_for
from arena.games.hexapawn import Hexapawn
from arena.maps.game_on_map import make_game_on_map


@pytest.mark.parametrize(
    ("game", "map", "there"),
    [
        ("tictactoe", "", True),
        ("riskless", "world", True),
        ("riskless", "grid:8x8", True),
        ("riskless", "grid:9x8", False),
    ],
)
def test_maps_within_the_limits_can_be_compiled(game: str, map: str, there: bool) -> None:
    made = make_game_on_map(game, map) if map else make_game_on_map(game)
    assert has_compiled_search(made) is there
    assert (compile_game(made, weights_for(made, "plain")) is not None) is there


def test_other_games_have_no_compiled_search() -> None:
    assert not has_compiled_search(Hexapawn())


def test_it_is_told_without_loading_anything() -> None:
    program = f"import sys; from arena.bots.compiled.availability import has_engine_extra; has_engine_extra(); print({set(EXTRA)!r} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"
    assert has_engine_extra()


@pytest.mark.parametrize("missing", EXTRA)
def test_without_one_of_its_packages_the_extra_is_not_there(missing: str) -> None:
    program = f"import sys; sys.modules[{missing!r}] = None; from arena.bots.compiled.availability import has_engine_extra; print(has_engine_extra())"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
