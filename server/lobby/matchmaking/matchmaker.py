"""Who plays whom: the pure choice of an open server's next match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from arena.games.core import AnyGame
from arena.match.openings import Opening
from arena.protocol.timecontrol import TimeControl
from arena.server.lobby.matchmaking.last_turns import LastTurns

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
class Course:
    """One of the things that a pool plays: a game on its map, under a time control, and how its matches begin."""

    game: AnyGame
    time_control: TimeControl
    openings: Sequence[Opening] = ((),)
    """What the two matches of a pair begin with, in their order; an empty one is the start of the game."""

    def __str__(self) -> str:
        named = self.game.setup().get("map")
        return f"{self.game.name}{f' on {named}' if isinstance(named, str) else ''} at {self.time_control}"


@dataclass(frozen=True)
class Offer:
    """What an open server has the bots play that wait for a match."""

    game: AnyGame
    time_control: TimeControl
    margin_ms: int
    ready_ms: int
    event: str
    rated: bool = True
    openings: Sequence[Opening] = ((),)
    """How matches of the first course begin: `Course.openings`."""
    others: tuple[Course, ...] = ()
    """What is played besides, in turn with the first."""
    pause: float = 0.0
    """Seconds from the end of a match to the next one of the same two bots."""

    @property
    def courses(self) -> tuple[Course, ...]:
        """All that is played."""
        return (Course(self.game, self.time_control, self.openings), *self.others)


class Meetings:
    """How often bots have met, by who sat in Maxie's seat."""

    def __init__(self) -> None:
        self._as_maxie: dict[str, dict[str, int]] = {}
        """By the bot in Maxie's seat, how often it met whom. It grows by the pair, and is forgotten by the bot."""
        self._turns: LastTurns[str] = LastTurns()
        """When each address had its last turn."""

    def times(self, maxie: str, minnie: str) -> int:
        """How often they have met in these seats."""
        return self._as_maxie.get(maxie, {}).get(minnie, 0)

    def choose(
        self,
        idle: Sequence[str],
        rating: Callable[[str], float] = lambda _name: UNRATED,
        most: int = 1,
        *,
        address: Callable[[str], str] = lambda _name: "",
        allowed: Callable[[str, str], bool] = lambda _a, _b: True,
    ) -> list[tuple[str, str]]:
        """The next matches among these: near in rating, seldom met, each in the seat it has had less.

        The addresses of the bots take turns: the next pair has a bot of the address whose bots have gone longest
        without a match. The cost of a pair is how often they have met, and one for each `RATING_STEP` between them:
        the cheapest first, nobody in two. Ties go to who has waited longest: earlier in `idle`. Fewer
        than `most` where too few are idle or `allowed` together, or so many that not all can be compared. O(n² (log n + most)).
        """
        if len(idle) > MOST_COMPARED:
            # Those that are left over are better compared with whoever comes after them.
            most = min(most, MOST_COMPARED // 4)
            idle = _in_rounds(idle, address)[:MOST_COMPARED]
        addresses = {name: address(name) for name in idle}
        ratings = {name: rating(name) for name in idle}

        met = {name: self._as_maxie.get(name, {}) for name in idle}

        def cost(pair: tuple[str, str]) -> float:
            a, b = pair
            return met[a].get(b, 0) + met[b].get(a, 0) + abs(ratings[a] - ratings[b]) / RATING_STEP

        chosen: list[tuple[str, str]] = []
        taken: set[str] = set()
        pairs = sorted((pair for pair in combinations(idle, 2) if allowed(*pair)), key=cost)
        given: dict[str, int] = {}  # turns of this choice, as nobody has been given a match yet
        while len(chosen) < most:
            pairs = [pair for pair in pairs if taken.isdisjoint(pair)]
            matched = {name for pair in pairs for name in pair}
            if not matched:
                break
            first = min(
                (name for name in idle if name in matched),
                key=lambda name: given.get(addresses[name]) or self._turns.of(addresses[name]),
            )
            turn = addresses[first]
            pair = next(pair for pair in pairs if turn in (addresses[pair[0]], addresses[pair[1]]))
            for name in pair:
                given[addresses[name]] = self._turns.latest + 1 + len(chosen)
            taken.update(pair)
            chosen.append(self.seats(*pair))
        return chosen

    def served(self, *addresses: str) -> None:
        """Take note that bots of these addresses are given a match by `choose`."""
        self._turns.note(*addresses)

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


def _in_rounds(idle: Sequence[str], address: Callable[[str], str]) -> list[str]:
    """The longest waiting bot of each address first, then the second of each, and so on."""
    seen: Counter[str] = Counter()
    rounds: list[int] = []
    for name in idle:
        whose = address(name)
        rounds.append(seen[whose])
        seen[whose] += 1
    return [name for _, name in sorted(zip(rounds, idle, strict=True), key=lambda each: each[0])]
