"""What the compiled searches have room for: told without loading them, which takes a while and needs an extra."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from arena.games.core import Game
from arena.games.riskless import Riskless
from arena.games.tictactoe import TicTacToe
from arena.solved.table import Table

MAX_TERRITORIES = 64
MAX_CAP = 255
MOST_TABLE = 1 << 28
"""Bytes of a solved map's table that a search unpacks: each process that looks up leaves has them."""

EXTRA = ("llvmlite", "numba", "numpy")
"""The packages of the extra `engine`."""


def fits(game: Game[Any, Any]) -> bool:
    """Whether there is a compiled search for the game, and its map is small enough."""
    if isinstance(game, Riskless):
        return game.map.size <= MAX_TERRITORIES and game.map.territory_cap <= MAX_CAP
    return isinstance(game, TicTacToe) or has_own_kernel(game)


def table_bytes(table: Table) -> int:
    """The memory that a solved map's table takes where a search looks up leaves."""
    return table.boards.count * table.header.width


def has_own_kernel(game: Game[Any, Any]) -> bool:
    """Whether a game of somebody's own brings a kernel: nothing is compiled to find out."""
    return type(game).compiled is not Game.compiled


def installed() -> bool:
    """Whether the extra `engine` is there, without which nothing is compiled."""
    return all(find_spec(name) is not None for name in EXTRA)
