"""Choice of a match's game, from the options `--game` and `--map`."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from arena.games.catalogue import CATALOGUE
from arena.games.core import AnyGame
from arena.games.riskless import Riskless
from arena.maps.loader import MAX_CACHED_MAPS, load_map

DEFAULT_MAP = "italy"
"""Default map of a match. Matches on it are short, and rarely drawn between equally strong players."""

DECISIVE_MAPS = (DEFAULT_MAP, "poland", "world", "usa")
"""Built-in maps on which at most about a tenth of the matches of equally strong players are drawn, shortest matches first."""


def make_game_on_map(game: str = Riskless.name, map: str = DEFAULT_MAP) -> AnyGame:
    """Return the game called `game`, on `map` if it is Riskless or a subclass.

    Other games ignore `map`. Riskless games on cached maps are cached too. Raises UnknownGame if there is no such game,
    BadGame if it cannot be loaded, and MapError if there is no such map or its file is invalid.
    """
    game_class = CATALOGUE.find(game)
    if not issubclass(game_class, Riskless):
        return cast("AnyGame", game_class.from_setup({}))
    riskless_map = load_map(map)
    is_cached = game_class is Riskless and not map.endswith(".toml")
    return cast("AnyGame", _make_cached_game(riskless_map.name) if is_cached else game_class(riskless_map))


def has_maps(game: str) -> bool:
    """Return True if the game called `game` is Riskless or a subclass.

    Raises UnknownGame if there is no such game, and BadGame if it cannot be loaded.
    """
    return issubclass(CATALOGUE.find(game), Riskless)


@lru_cache(maxsize=MAX_CACHED_MAPS)
def _make_cached_game(map: str) -> Riskless:
    return Riskless(load_map(map))
