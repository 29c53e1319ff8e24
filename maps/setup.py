"""From `--game` and `--map` to the game that a match is played of."""

from __future__ import annotations

from typing import Any

from games.catalogue import GAMES
from games.core import AnyGame, Game, UnknownGame
from games.riskless import Riskless
from maps.loader import load_map

DEFAULT_MAP = "m2"


def make_setup(game: str = Riskless.name, map: str = DEFAULT_MAP) -> AnyGame:
    """The game of that name, on that map where it is played on one. Raises UnknownGame or MapError.

    A game that needs no map ignores it.
    """
    if game not in GAMES:
        raise UnknownGame(f"no game is called {game!r:.40}: there are {', '.join(sorted(GAMES))}")
    rules: Game[Any, Any] = Riskless(load_map(map)) if game == Riskless.name else GAMES[game].from_setup({})
    return rules
