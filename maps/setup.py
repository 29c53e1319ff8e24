"""Choice of the game of a match from `--game` and `--map`."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from arena.games.catalogue import KNOWN
from arena.games.core import AnyGame
from arena.games.riskless import Riskless
from arena.maps.loader import CACHE_MAPS, load_map

DEFAULT_MAP = "italy"
"""Default map of a match: a quick one, on which matches between equals are decided."""

DECIDING = (DEFAULT_MAP, "poland", "world", "usa")
"""Shipped maps on which at most about a tenth of the matches between equals are drawn, the quickest first."""


def make_setup(game: str = Riskless.name, map: str = DEFAULT_MAP) -> AnyGame:
    """Return the game called `game`, on `map` if it is Riskless or a subclass. Raises UnknownGame, BadGame or MapError.

    Other games ignore `map`. Riskless on cached maps is cached too, with its setup.
    """
    kind = KNOWN.find(game)
    if not issubclass(kind, Riskless):
        return cast("AnyGame", kind.from_setup({}))
    riskless_map = load_map(map)
    return cast(
        "AnyGame",
        kind(riskless_map)
        if kind is not Riskless or map.endswith(".toml")
        else _cached_game(riskless_map.name),
    )


def has_maps(game: str) -> bool:
    """Return True if the game called `game` is Riskless or a subclass. Raises UnknownGame and BadGame."""
    return issubclass(KNOWN.find(game), Riskless)


@lru_cache(maxsize=CACHE_MAPS)
def _cached_game(map: str) -> Riskless:
    return Riskless(load_map(map))
