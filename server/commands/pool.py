"""Offer of the matchmaker by the settings of the pool: games on maps under time controls, and their openings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from arena.games.catalogue import KNOWN
from arena.games.core import AnyGame, GameError
from arena.games.riskless import Riskless
from arena.maps.loader import MapError
from arena.maps.openings import BadOpenings, read, shipped_openings
from arena.maps.setup import make_setup
from arena.match.openings import Opening, random_opening
from arena.protocol.timecontrol import BadTimeControl, TimeControl
from arena.server.commands.settings_file import BadSetting
from arena.server.lobby.matchmaking.matchmaker import OPEN_EVENT, Course, Offer
from arena.server.settings import PoolSettings

T = TypeVar("T")

SHIPPED, NONE = "shipped", "none"
MOST_PLIES = 100
DRAWN = 1_000
"""Random openings that are drawn of each start; fewer where there are no more."""
INSTEAD = (2, 3, 4, 6, 8)
"""Random plies where openings that are shipped are asked for, and there are none: of another game, or a small map."""
ENOUGH = 20
"""So many openings must there be before no more plies are tried: two bots that always answer alike then play 40 games."""


def offer_of(pool: PoolSettings) -> Offer:
    """Return what the matchmaker gives. Raises BadSetting."""
    first, *others = courses_of(pool)
    return Offer(
        first.game,
        first.time_control,
        pool.margin_ms,
        round(1000 * pool.ready_seconds),
        OPEN_EVENT,
        rated=pool.rated,
        openings=first.openings,
        others=tuple(others),
        pause=pool.pause_seconds,
    )


def courses_of(pool: PoolSettings) -> tuple[Course, ...]:
    """Return each game on each map under each time control. Raises BadSetting."""
    times = _each("pool.time_controls", pool.time_controls, TimeControl.parse)
    games = _each("pool.games", pool.games, KNOWN.name)
    starts = [start for game in games for start in _starts(game, pool)]
    return tuple(
        Course(game, time, begun)
        for map, game in starts
        for begun in [_openings(game, map, pool.openings)]
        for time in times
    )


def _starts(game: str, pool: PoolSettings) -> list[tuple[str, AnyGame]]:
    """Return the maps of a game, each with the game on it; the map of a game without any is empty."""
    if game != Riskless.name:
        return [("", each) for each in _each("pool.games", (game,), make_setup)]
    return list(zip(pool.maps, _each("pool.maps", pool.maps, partial(make_setup, game)), strict=True))


def _each(key: str, words: Sequence[str], parse: Callable[[str], T]) -> list[T]:
    """Return what each of the words stands for. Raises BadSetting."""
    if not words or not all(words) or len(set(words)) < len(words):
        raise BadSetting(key, "expected one or more, each once")
    try:
        return [parse(word) for word in words]
    except (GameError, MapError, BadTimeControl) as error:
        raise BadSetting(key, str(error)) from None


def _openings(game: AnyGame, map: str, openings: str) -> Sequence[Opening]:
    try:
        return _openings_by(game, map, openings)
    except BadOpenings as error:
        raise BadSetting("pool.openings", str(error)) from None


def _openings_by(game: AnyGame, map: str, openings: str) -> Sequence[Opening]:
    if openings == NONE:
        return ((),)
    if openings == SHIPPED:
        path = shipped_openings(map) if map else None
        return _instead(game) if path is None else _apart(read(path, [game])[0])
    if not openings.isdecimal():
        return _apart(read(Path(openings), [game])[0])
    if not 1 <= int(openings) <= MOST_PLIES:
        raise BadSetting(
            "pool.openings", f"expected {SHIPPED}, {NONE}, 1 to {MOST_PLIES} random plies, or a file"
        )
    return _drawn(game, int(openings))


def _instead(game: AnyGame) -> tuple[Opening, ...]:
    """The shortest random openings of which there are enough, or else the most."""
    best: tuple[Opening, ...] = ()
    for plies in INSTEAD:
        best = max(best, _drawn(game, plies), key=len)
        if len(best) >= ENOUGH:
            break
    return best


def _drawn(game: AnyGame, plies: int) -> tuple[Opening, ...]:
    """Random openings, the same after a restart: what has been played is not drawn anew, but gone through."""
    return _apart([random_opening(game, plies, f"serve/{number}") for number in range(DRAWN)])


def _apart(openings: Sequence[Opening]) -> tuple[Opening, ...]:
    """Those of which none is how another one begins: however they are played on, no two lead to the same moves."""
    told = {tuple(map(repr, opening)): opening for opening in openings}
    begun = {written[:plies] for written in told for plies in range(len(written))}
    return tuple(opening for written, opening in told.items() if written not in begun)
