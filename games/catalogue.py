"""The games by name: what a match's `game` and `setup` stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from games.core import AnyGame, Game, UnknownGame
from games.hexapawn import Hexapawn
from games.riskless import Riskless
from games.tictactoe import TicTacToe

GAMES: dict[str, type[Game[Any, Any]]] = {game.name: game for game in (Riskless, TicTacToe, Hexapawn)}
"""Every game that a match can be played of."""


def make_game(name: str, setup: Mapping[str, object]) -> AnyGame:
    """The game `name` on `setup`. Raises UnknownGame or BadData."""
    if name not in GAMES:
        raise UnknownGame(f"no game is called {name!r:.40}: there are {', '.join(sorted(GAMES))}")
    return cast("AnyGame", GAMES[name].from_setup(setup))
