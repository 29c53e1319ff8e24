"""From `--game` and `--map` to the game that a match is played of."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from arena.games.catalogue import KNOWN
from arena.games.core import AnyGame
from arena.games.riskless import Riskless
from arena.maps.loader import KEPT, load_map

DEFAULT_MAP = "italy"
"""The map of a match for which none is named: a quick one, on which matches between equals are decided."""

DECIDING = (DEFAULT_MAP, "poland", "world", "usa")
"""The shipped maps on which at most about a tenth of the matches between equals are drawn, the quickest first."""


def make_setup(game: str = Riskless.name, map: str = DEFAULT_MAP) -> AnyGame:
    """The game of that name, on that map where it is played on one. Raises UnknownGame, BadGame or MapError.

    A game that needs no map ignores it. Games on maps that are kept are kept as well, their setups with them.
    """
    if game != Riskless.name:
        return cast("AnyGame", KNOWN.find(game).from_setup({}))
    made = load_map(map)
    return cast("AnyGame", Riskless(made) if map.endswith(".toml") else _kept(made.name))


@lru_cache(maxsize=KEPT)
def _kept(map: str) -> Riskless:
    return Riskless(load_map(map))
