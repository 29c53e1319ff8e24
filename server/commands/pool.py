"""Build the matchmaker's pool: the games, each with map, time control and openings, that the matchmaker may choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from arena.games.catalogue import CATALOGUE
from arena.games.core import AnyGame, GameError
from arena.maps.game_on_map import has_maps, make_game_on_map
from arena.maps.loader import MapError
from arena.maps.openings_file import BadOpenings, find_shipped_openings_file, read_openings
from arena.match.openings import MAX_OPENING_PLIES, make_random_opening
from arena.protocol.timecontrol import BadTimeControl, TimeControl
from arena.protocol.values import Opening
from arena.server.commands.settings_file import BadSetting
from arena.server.core.settings import GameAtTimeControl, Pool
from arena.server.settings import PoolSettings

T = TypeVar("T")

SHIPPED_OPENINGS, NO_OPENINGS = "shipped", "none"
"""Values of the setting `pool.openings` for the built-in openings and for none. Other values: a number of plies, or a file."""
MAX_RANDOM_OPENINGS = 1_000
"""Number of random openings drawn for each game and map. Duplicates are dropped, so fewer may remain."""
RANDOM_OPENING_LENGTHS_IN_PLIES = (2, 3, 4, 6, 8)
"""Lengths of random openings, in plies, to try in turn if a game or map has no built-in openings."""
SUFFICIENT_RANDOM_OPENING_COUNT = 20
"""Number of different random openings that suffices for a game or map, so that longer openings are not tried.

With 20 openings, two deterministic bots can play 40 different matches.
"""


def make_matchmaking_pool(pool_settings: PoolSettings) -> Pool:
    """Build the matchmaker's pool (the games that it may choose) from its settings. Raises BadSetting if one is invalid."""
    return Pool(
        games=_make_pool_games(pool_settings),
        margin_ms=pool_settings.margin_ms,
        ready_timeout_ms=round(1000 * pool_settings.ready_seconds),
        is_rated=pool_settings.rated,
        rematch_pause_ms=round(1000 * pool_settings.pause_seconds),
    )


def _make_pool_games(pool_settings: PoolSettings) -> tuple[GameAtTimeControl, ...]:
    """Return each game that the matchmaker may choose, on each map with each time control.

    Raises BadSetting if one is invalid.
    """
    time_controls = _parse_setting_values(
        "pool.time_controls", pool_settings.time_controls, TimeControl.parse
    )
    pool_games: list[GameAtTimeControl] = []
    for game_name in _parse_setting_values("pool.games", pool_settings.games, CATALOGUE.register_game):
        for map_name, game in _make_game_on_each_map(game_name, pool_settings):
            try:
                openings = tuple(_choose_openings(game, map_name, pool_settings.openings))
            except BadOpenings as error:
                raise BadSetting("pool.openings", str(error)) from None
            pool_games += [GameAtTimeControl(game, time_control, openings) for time_control in time_controls]
    return tuple(pool_games)


def _make_game_on_each_map(game_name: str, pool_settings: PoolSettings) -> list[tuple[str, AnyGame]]:
    """Return pairs of a map's name and the game on this map, for each map in the settings of the matchmaker's pool.

    For a game without maps, return one pair, with an empty name. Raises BadSetting for an unknown game or map.
    """
    if not has_maps(game_name):
        return [("", start) for start in _parse_setting_values("pool.games", (game_name,), make_game_on_map)]
    return list(
        zip(
            pool_settings.maps,
            _parse_setting_values("pool.maps", pool_settings.maps, partial(make_game_on_map, game_name)),
            strict=True,
        )
    )


def _parse_setting_values(setting_key: str, value_texts: Sequence[str], parse: Callable[[str], T]) -> list[T]:
    """Parse each text in the list of the setting `setting_key`.

    Raises BadSetting if the list is empty, or if a text is invalid or repeated.
    """
    if not value_texts or not all(value_texts) or len(set(value_texts)) < len(value_texts):
        raise BadSetting(
            setting_key,
            "the list is empty, or has an empty or repeated value: give one or more different values",
        )
    try:
        return [parse(text) for text in value_texts]
    except (GameError, MapError, BadTimeControl) as error:
        raise BadSetting(setting_key, str(error)) from None


def _choose_openings(game: AnyGame, map_name: str, openings_setting: str) -> Sequence[Opening]:
    """Return the openings for a game on a map. `openings_setting`: value of the setting `pool.openings`.

    Raises BadOpenings for an invalid file of openings, and BadSetting for any other invalid value.
    """
    if openings_setting == NO_OPENINGS:
        return ((),)
    if openings_setting.isdecimal():
        if not 1 <= int(openings_setting) <= MAX_OPENING_PLIES:
            raise BadSetting(
                "pool.openings",
                f"expected {SHIPPED_OPENINGS}, {NO_OPENINGS}, a number of random plies from 1 to {MAX_OPENING_PLIES}, or a file",
            )
        return _make_random_openings(game, int(openings_setting))
    if openings_setting == SHIPPED_OPENINGS:
        path = find_shipped_openings_file(map_name, game.name)
        if path is None:
            return _choose_fallback_openings(game)
    else:
        path = Path(openings_setting)
    return _drop_openings_that_are_prefixes(read_openings(path, [game])[0])


def _choose_fallback_openings(game: AnyGame) -> tuple[Opening, ...]:
    """Return random openings, all of one length from `RANDOM_OPENING_LENGTHS_IN_PLIES`.

    The length is the shortest that gives `SUFFICIENT_RANDOM_OPENING_COUNT` different openings. If none gives so many, it is the
    length that gives the most.
    """
    best_openings: tuple[Opening, ...] = ()
    for plies in RANDOM_OPENING_LENGTHS_IN_PLIES:
        best_openings = max(best_openings, _make_random_openings(game, plies), key=len)
        if len(best_openings) >= SUFFICIENT_RANDOM_OPENING_COUNT:
            break
    return best_openings


def _make_random_openings(game: AnyGame, ply_count: int) -> tuple[Opening, ...]:
    """Return random openings of `ply_count` plies, from fixed seeds, so that they are the same after a restart."""
    return _drop_openings_that_are_prefixes(
        [make_random_opening(game, ply_count, f"serve/{number}") for number in range(MAX_RANDOM_OPENINGS)]
    )


def _drop_openings_that_are_prefixes(openings: Sequence[Opening]) -> tuple[Opening, ...]:
    openings_by_text = {tuple(map(repr, opening)): opening for opening in openings}
    prefixes = {text[:plies] for text in openings_by_text for plies in range(len(text))}
    return tuple(opening for text, opening in openings_by_text.items() if text not in prefixes)
