"""The formats of an event: which pairs come next, given what has been played. Pure, and a function of the
plan and the results alone, so that an event that was stopped goes on with the same pairings.

A format gives pairs as soon as they are known. Only Swiss has rounds that wait for each other: who meets
whom in the next one depends on all results of this one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from arena.rating.pairing import Pair, check, everybody, shuffled

TIE_BREAKS = 4
"""How many pairs more a drawn encounter of a knockout gets, one by one; after them the better seed goes on."""

FORMATS = ("round-robin", "gauntlet", "swiss", "knockout")


class Format(Protocol):
    """Hands out the pairs of an event."""

    @property
    def matches(self) -> int | None:
        """How many matches are to be played in all, as far as that is known; None where there is no end."""

    def more(self, *, dry: bool) -> list[Pair]:
        """Pairs that were not given before and can be played now. `dry`: some two bots have no match left."""

    def ended(self, pair: Pair, first: float, second: float) -> None:
        """Both matches of a pair are over, and gave its two bots so many points."""


@dataclass
class Rounds:
    """A round-robin, or a gauntlet of the first bot against all others: `rounds` of them, or without end."""

    bots: Sequence[str]
    rounds: int | None
    starts: int
    seed: int
    gauntlet: bool = False
    _given: int = 0

    def __post_init__(self) -> None:
        check(self.bots, self.starts)

    @property
    def matches(self) -> int | None:
        n = len(self.bots)
        each = (n - 1 if self.gauntlet else n * (n - 1) // 2) * self.starts
        return None if self.rounds is None else 2 * self.rounds * each

    def more(self, *, dry: bool) -> list[Pair]:
        if not dry or (self.rounds is not None and self._given >= self.rounds):
            return []
        round = self._given
        self._given += 1
        n = len(self.bots)
        if not self.gauntlet:
            size = n * (n - 1) // 2 * self.starts
            return everybody(self.bots, round, self.starts, self.seed, round * size)
        champion, *others = self.bots
        number = round * (n - 1) * self.starts
        pairs: list[Pair] = []
        for start in range(self.starts):
            for other in shuffled(others, f"{self.seed}/{round}/{start}"):
                pairs.append(Pair(number + len(pairs), round, start, champion, other))
        return pairs

    def ended(self, pair: Pair, first: float, second: float) -> None:
        """Who meets whom does not depend on results."""


@dataclass
class Swiss:
    """Each round, bots of about equal points meet, rather with somebody new than again.

    The order is by points, then by seed. Pairings go down that order, each bot with the next one that it
    has met least often; with an odd number the lowest that has sat out least often sits out, for the
    points of a pair won.
    """

    bots: Sequence[str]
    rounds: int | None
    starts: int
    seed: int
    _given: int = 0
    _open: set[int] = field(default_factory=set)
    _points: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _met: defaultdict[frozenset[str], int] = field(default_factory=lambda: defaultdict(int))
    _sat_out: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    def __post_init__(self) -> None:
        check(self.bots, self.starts)

    @property
    def matches(self) -> int | None:
        return None if self.rounds is None else 2 * self.rounds * (len(self.bots) // 2) * self.starts

    def more(self, *, dry: bool) -> list[Pair]:  # noqa: ARG002  a round is given when the last one is over
        if self._open or (self.rounds is not None and self._given >= self.rounds):
            return []
        round = self._given
        self._given += 1
        number = round * (len(self.bots) // 2) * self.starts
        pairs: list[Pair] = []
        for first, second in self._meetings(round):
            self._met[frozenset((first, second))] += 1
            for start in range(self.starts):
                pairs.append(Pair(number + len(pairs), round, start, first, second))
        self._open = {pair.number for pair in pairs}
        return pairs

    def ended(self, pair: Pair, first: float, second: float) -> None:
        self._points[pair.first] += first
        self._points[pair.second] += second
        self._open.discard(pair.number)

    def _meetings(self, round: int) -> list[tuple[str, str]]:
        seeded = shuffled(self.bots, f"{self.seed}/{round}")
        left = sorted(seeded, key=lambda bot: -self._points[bot])
        if len(left) % 2:
            out = min(reversed(left), key=lambda bot: self._sat_out[bot])
            left.remove(out)
            self._sat_out[out] += 1
            self._points[out] += 2 * self.starts
        meetings = []
        while left:
            first = left.pop(0)
            second = min(left, key=lambda bot: self._met[frozenset((first, bot))])
            left.remove(second)
            meetings.append((first, second))
        return meetings


@dataclass
class _Node:
    """One encounter of a knockout. Its bots come from two others, or are known from the start."""

    bots: list[str | None]
    above: int | None
    slot: int
    points: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    to_play: int = 0
    given: int = 0

    def give(self) -> None:
        """Count a pair that is given out."""
        self.given += 1
        self.to_play += 1

    def count(self, points: Mapping[str, float]) -> None:
        """Count a pair that is over."""
        for bot, more in points.items():
            self.points[bot] += more
        self.to_play -= 1


@dataclass
class Knockout:
    """Who loses an encounter is out: `rounds` pairs on each start, and where that is drawn a few more.

    The order of the bots is the seeding: the first two can meet in the final only. Encounters do not wait
    for those of other branches.
    """

    bots: Sequence[str]
    rounds: int
    starts: int
    _nodes: list[_Node] = field(default_factory=list)
    _new: list[int] = field(default_factory=list)
    _tie_breaks: int = 0
    winner: str | None = None

    def __post_init__(self) -> None:
        check(self.bots, self.starts)
        self._seed = {bot: place for place, bot in enumerate(self.bots)}
        self._tree(list(_bracket(len(self.bots))), None, 0)

    def _tree(self, places: list[int], above: int | None, slot: int) -> None:
        """Make the encounter that these places of the seeding lead to, and those below it."""
        here = len(self._nodes)
        node = _Node([None, None], above, slot)
        self._nodes.append(node)
        half = len(places) // 2
        for side, part in enumerate((places[:half], places[half:])):
            there = [place for place in part if place < len(self.bots)]
            if len(there) > 1:
                self._tree(part, here, side)
            else:  # alone in its part, a bot goes on without playing
                node.bots[side] = self.bots[there[0]]
        if None not in node.bots:
            self._new.append(here)

    @property
    def matches(self) -> int | None:
        return 2 * ((len(self.bots) - 1) * self.rounds * self.starts + self._tie_breaks)

    @property
    def _stride(self) -> int:
        """How many numbers of pairs belong to one encounter."""
        return self.rounds * self.starts + TIE_BREAKS

    def more(self, *, dry: bool) -> list[Pair]:  # noqa: ARG002  an encounter is given when its bots are known
        pairs: list[Pair] = []
        for index in sorted(self._new):
            pairs += [self._pair(index) for _ in range(self.rounds * self.starts)]
        for index, node in enumerate(self._nodes):
            if node.given and not node.to_play and self._tied(node) and node.given < self._stride:
                self._tie_breaks += 1
                pairs.append(self._pair(index))
        self._new.clear()
        return pairs

    def _pair(self, index: int) -> Pair:
        node = self._nodes[index]
        first, second = node.bots
        if first is None or second is None:
            raise ValueError(f"encounter {index} has no bots yet")
        number = index * self._stride + node.given
        pair = Pair(number, node.given // self.starts, node.given % self.starts, first, second)
        node.give()
        return pair

    def ended(self, pair: Pair, first: float, second: float) -> None:
        node = self._nodes[pair.number // self._stride]
        node.count({pair.first: first, pair.second: second})
        if node.to_play or (self._tied(node) and node.given < self._stride):
            return
        winner = min((pair.first, pair.second), key=lambda bot: (-node.points[bot], self._seed[bot]))
        if node.above is None:
            self.winner = winner
            return
        above = self._nodes[node.above]
        above.bots[node.slot] = winner
        if None not in above.bots:
            self._new.append(node.above)

    @staticmethod
    def _tied(node: _Node) -> bool:
        return len(set(node.points.values())) < 2


def _bracket(n: int) -> list[int]:
    """The places of the seeding in the order of the bracket; places from n on are empty."""
    places = [0]
    while len(places) < n:
        size = 2 * len(places)
        places = [each for place in places for each in (place, size - 1 - place)]
    return places


def make_format(name: str, bots: Sequence[str], rounds: int | None, starts: int, seed: int) -> Format:
    """The format of that name (`FORMATS`). Raises ValueError."""
    makers: dict[str, Callable[[], Format]] = {
        "round-robin": lambda: Rounds(bots, rounds, starts, seed),
        "gauntlet": lambda: Rounds(bots, rounds, starts, seed, gauntlet=True),
        "swiss": lambda: Swiss(bots, rounds, starts, seed),
        "knockout": lambda: Knockout(bots, rounds or 1, starts),
    }
    if name not in makers:
        raise ValueError(f"no format is called {name!r:.40}: there are {', '.join(FORMATS)}")
    return makers[name]()
