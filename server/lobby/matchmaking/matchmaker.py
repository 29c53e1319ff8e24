"""Who plays whom: the pure choice of an open server's next match."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from games.core import AnyGame
from protocol.timecontrol import TimeControl

RATING_STEP = 200.0
"""A difference in rating that weighs as much as having met once more."""

UNRATED = 1500.0
"""The rating that counts for a bot without one."""
MOST_COMPARED = 50
"""How many of those that wait are compared with each other, the longest waiting first: all pairs of
thousands would hold up every match."""

OPEN_EVENT = "serve"
"""The event of all matches that an open server arranges itself, with which it goes on after a restart."""


@dataclass(frozen=True)
class Offer:
    """What an open server has the bots play that wait for a match."""

    game: AnyGame
    time_control: TimeControl
    margin_ms: int
    ready_ms: int
    event: str
    rated: bool = True


class Meetings:
    """How often bots have met, by who sat in Maxie's seat."""

    def __init__(self) -> None:
        self._as_maxie: dict[str, dict[str, int]] = {}
        """By the bot in Maxie's seat, how often it met whom. It grows by the pair, and is forgotten by the bot."""

    def times(self, maxie: str, minnie: str) -> int:
        """How often they have met in these seats."""
        return self._as_maxie.get(maxie, {}).get(minnie, 0)

    def choose(
        self,
        idle: Sequence[str],
        rating: Callable[[str], float] = lambda _name: UNRATED,
        most: int = 1,
    ) -> list[tuple[str, str]]:
        """The next matches among these: near in rating, seldom met, each in the seat it has had less.

        The cost of a pair is how often they have met, and one for each `RATING_STEP` between them: the
        cheapest first, nobody in two. Ties go to who has waited longest: earlier in `idle`. Fewer
        than `most` where too few are idle, or so many that not all can be compared. O(n² log n).
        """
        if len(idle) > MOST_COMPARED:
            # Those that are left over are better compared with whoever comes after them.
            most = min(most, MOST_COMPARED // 4)
            idle = idle[:MOST_COMPARED]
        ratings = {name: rating(name) for name in idle}

        met = {name: self._as_maxie.get(name, {}) for name in idle}

        def cost(pair: tuple[str, str]) -> float:
            a, b = pair
            return met[a].get(b, 0) + met[b].get(a, 0) + abs(ratings[a] - ratings[b]) / RATING_STEP

        chosen: list[tuple[str, str]] = []
        taken: set[str] = set()
        for pair in sorted(combinations(idle, 2), key=cost):
            if len(chosen) >= most:
                break
            if taken.isdisjoint(pair):
                taken.update(pair)
                chosen.append(self.seats(*pair))
        return chosen

    def seats(self, a: str, b: str) -> tuple[str, str]:
        """The two as (Maxie, Minnie): swapped from match to match."""
        return (a, b) if self.times(a, b) <= self.times(b, a) else (b, a)

    def note(self, maxie: str, minnie: str) -> None:
        """Count a match that begins."""
        against = self._as_maxie.setdefault(maxie, {})
        against[minnie] = against.get(minnie, 0) + 1

    def forget(self, name: str) -> None:
        """Drop what is known of a bot that has left: names come from the network."""
        self._as_maxie.pop(name, None)
        for maxie in [maxie for maxie, against in self._as_maxie.items() if against.pop(name, 0)]:
            if not self._as_maxie[maxie]:
                del self._as_maxie[maxie]
