"""What the pool has had each two bots play: in pairs of matches that begin alike with the seats swapped, with a pause
between them. Pure: times are arguments, in seconds of any clock.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from arena.match.openings import Opening
from arena.protocol.values import Players
from arena.server.lobby.matchmaking.matchmaker import Course

MOST_TWOS = 10_000
"""Pairs of bots that are remembered, those that met last: names come from the network."""


@dataclass(frozen=True)
class Half:
    """The first match of a pair: the second one is on the same course from the same opening, with the seats swapped."""

    course: Course
    opening: Opening
    maxie: str


@dataclass
class _Two:
    """What is known of two bots."""

    pairs: int = 0
    """How many pairs of matches they have begun."""
    half: Half | None = None
    ended: float | None = None
    """When their last match was over."""


class Encounters:
    """The matches of each two bots, whoever has which seat."""

    def __init__(self, salt: str) -> None:
        """`salt`: another one leads to another order of courses and openings."""
        self._salt = salt
        self._twos: OrderedDict[frozenset[str], _Two] = OrderedDict()

    def rests_until(self, a: str, b: str, pause: float) -> float | None:
        """Until when the two do not meet again; None where they may at any time."""
        known = self._twos.get(frozenset((a, b)))
        return None if known is None or known.ended is None else known.ended + pause

    def next(self, maxie: str, minnie: str, courses: Sequence[Course]) -> Half:
        """The next match of the two, among the courses that both play; in these seats where it begins a pair."""
        known = self._of(maxie, minnie)
        half = known.half
        known.half = None
        if half is not None and any(half.course is each or half.course == each for each in courses):
            return Half(half.course, half.opening, minnie if half.maxie == maxie else maxie)
        turn = self._drawn(maxie, minnie) + known.pairs
        course = courses[turn % len(courses)]
        opening = course.openings[turn // len(courses) % len(course.openings)]
        known.pairs += 1
        known.half = Half(course, opening, maxie)
        return known.half

    def ended(self, players: Players, now: float) -> None:
        """Take note that a match is over."""
        self._of(players.maxie, players.minnie).ended = now

    def _of(self, a: str, b: str) -> _Two:
        two = frozenset((a, b))
        known = self._twos.get(two)
        if known is None:
            known = self._twos[two] = _Two()
            if len(self._twos) > MOST_TWOS:
                self._twos.popitem(last=False)
        self._twos.move_to_end(two)
        return known

    def _drawn(self, a: str, b: str) -> int:
        """Where the two begin in the order of what is played: at another place than others, and after a restart."""
        text = json.dumps([self._salt, *sorted((a, b))])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
