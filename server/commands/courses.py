"""What the pool of `arena serve` plays, by its options: games on maps under time controls, and how matches begin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena.games.catalogue import KNOWN
from arena.games.core import AnyGame
from arena.games.riskless import Riskless
from arena.maps.openings import read, shipped_openings
from arena.maps.setup import make_setup
from arena.match.openings import Opening, random_opening
from arena.protocol.timecontrol import TimeControl
from arena.server.lobby.matchmaking.matchmaker import Course

SHIPPED, NONE = "shipped", "none"
MOST_PLIES = 100
DRAWN = 1_000
"""Random openings that are drawn of each start; fewer where there are no more."""
INSTEAD = (2, 3, 4, 6, 8)
"""Random plies where openings that are shipped are asked for, and there are none: of another game, or a small map."""
ENOUGH = 20
"""So many openings must there be before no more plies are tried: two bots that always answer alike then play 40 games."""


class BadCourses(ValueError):
    """Options of which no pool can be made; one line, with what would be right."""


def courses_of(games: str, maps: str, controls: str, openings: str) -> tuple[Course, ...]:
    """All that is played, each list with commas between.

    Raises BadCourses, GameError, MapError, BadTimeControl and BadOpenings.
    """
    times = [TimeControl.parse(each) for each in _listed(controls, "--tc")]
    starts = [
        (map, make_setup(game, map))
        for game in [KNOWN.name(each) for each in _listed(games, "--game")]
        for map in (_listed(maps, "--map") if game == Riskless.name else [""])
    ]
    return tuple(
        Course(game, time, begun)
        for map, game in starts
        for begun in [_openings(game, map, openings)]
        for time in times
    )


def _listed(text: str, option: str) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    if not all(words) or len(set(words)) < len(words):
        raise BadCourses(f"{option}: names with commas between, none of them twice")
    return words


def _openings(game: AnyGame, map: str, openings: str) -> Sequence[Opening]:
    if openings == NONE:
        return ((),)
    if openings == SHIPPED:
        path = shipped_openings(map) if map else None
        return _instead(game) if path is None else _apart(read(path, [game])[0])
    if not openings.isdecimal():
        return _apart(read(Path(openings), [game])[0])
    if not 1 <= int(openings) <= MOST_PLIES:
        raise BadCourses(f"--openings: 1 to {MOST_PLIES} random plies, {SHIPPED}, {NONE}, or a file")
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
