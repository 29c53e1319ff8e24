"""Choice of a match's game, from the options `--game` and `--map`."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from arena.games.catalogue import CATALOGUE
from arena.games.core import AnyGame
from arena.games.riskless import Riskless
from arena.maps.loader import MAX_CACHED_MAPS, load_map

DEFAULT_MAP = "italy"
"""Default map of a match, on which matches are short, and rarely drawn between equally strong players."""

MAPS_WITH_FEW_DRAWS = (DEFAULT_MAP, "poland", "world", "usa")
"""Built-in maps on which at most about a tenth of the matches of equally strong players are drawn, shortest matches first."""


def make_game_on_map(game_spec: str = Riskless.name, map_name: str = DEFAULT_MAP) -> AnyGame:
    """Return the game called `game_spec`, on the map `map_name` if it is Riskless or a subclass.

    Other games ignore `map_name`. Riskless on a built-in or generated map is created once and cached. Raises UnknownGame
    if there is no such game, BadGame if it cannot be loaded, and MapError if there is no such map or its file is
    invalid.
    """
    game_class = CATALOGUE.find_game_class(game_spec)
    if not issubclass(game_class, Riskless):
        return cast("AnyGame", game_class.from_setup({}))
    riskless_map = load_map(map_name)
    is_cached = game_class is Riskless and not map_name.endswith(".toml")
    return cast(
        "AnyGame", _make_cached_riskless(riskless_map.name) if is_cached else game_class(riskless_map)
    )


def has_maps(game_name: str) -> bool:
    """Return True if the game called `game_name` is Riskless or a subclass.

    Raises UnknownGame if there is no such game, and BadGame if it cannot be loaded.
    """
    return issubclass(CATALOGUE.find_game_class(game_name), Riskless)


@lru_cache(maxsize=MAX_CACHED_MAPS)
def _make_cached_riskless(map_name: str) -> Riskless:
    return Riskless(load_map(map_name))
