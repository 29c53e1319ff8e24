"""Check of a game for a compiled search, and the largest map for it. This module loads fast: it does not import numba."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from arena.games.core import Game
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe

MAX_COMPILED_TERRITORIES = 64
"""Maximum number of territories of a map with a compiled search: a set of territories is one 64-bit word."""
MAX_COMPILED_TERRITORY_CAP = 255
"""Greatest cap (maximum number of armies on a territory) of a map with a compiled search: a number of armies has eight bits."""

ENGINE_EXTRA_PACKAGES = ("llvmlite", "numba", "numpy")
"""Packages that `pip install riskless-arena[engine]` installs, by which `has_engine_extra` recognizes the extra."""


def has_compiled_search(game: Game[Any, Any]) -> bool:
    """Return True if the game has a compiled search and its map is small enough.

    A subclass of a built-in game needs its own kernel (compiled functions), because its rules may differ.
    """
    if type(game) is Riskless:
        return (
            game.map.territory_count <= MAX_COMPILED_TERRITORIES
            and game.map.territory_cap <= MAX_COMPILED_TERRITORY_CAP
        )
    return type(game) is TicTacToe or has_custom_kernel(game)


def has_custom_kernel(game: Game[Any, Any]) -> bool:
    """Return True if a user-defined game provides a kernel (compiled functions). The test compiles nothing."""
    return type(game).compiled is not Game.compiled


def has_engine_extra() -> bool:
    """Return True if the `engine` extra is installed, which compiled searches need."""
    return all(find_spec(name) is not None for name in ENGINE_EXTRA_PACKAGES)
