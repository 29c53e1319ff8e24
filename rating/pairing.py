"""Who plays whom, in which order: a schedule of pairs, as plain data.

A pair is two matches on the same start with the seats swapped, so that neither the start nor the
first move favours anybody. Pairs do not wait for each other: a runner takes matches in this order,
skipping those whose bots are busy, and a slow bot delays only itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """Two matches of `first` and `second` on one start; `first` has Maxie's seat in the first of them."""

    number: int
    """The pair's place in the schedule, from 0."""
    round: int
    """The number of the round, from 0."""
    start: int
    """Which of the event's starts, by its place in their list."""
    first: str
    second: str

    def matches(self) -> tuple[Pairing, Pairing]:
        """The two matches, in order."""
        return Pairing(self, 0, self.first, self.second), Pairing(self, 1, self.second, self.first)


@dataclass(frozen=True, slots=True)
class Pairing:
    """One match of a pair, to be played."""

    pair: Pair
    leg: int
    """0 or 1: which of the pair's two matches."""
    maxie: str
    minnie: str


def check(bots: Sequence[str], starts: int) -> None:
    """Raises ValueError for bots and starts of which no event can be made."""
    if len(bots) < 2 or len(set(bots)) != len(bots):
        raise ValueError("a round-robin needs at least two bots of different names")
    if starts < 1:
        raise ValueError("a round-robin needs at least one round and one start")


def everybody(bots: Sequence[str], round: int, starts: int, seed: int, first_number: int) -> list[Pair]:
    """One round of a round-robin: everybody against everybody, a pair on each of `starts` starts for each two bots.

    Within a start the order is that of the circle method, so that bots take turns and those with nothing to do are
    few; the seats around the circle are shuffled by the seed, anew for every round and start. The same arguments
    give the same pairs on every machine. The pairs are numbered from `first_number`.
    """
    met = [
        (start, first, second)
        for start in range(starts)
        for first, second in _circle(shuffled(bots, f"{seed}/{round}/{start}"))
    ]
    return [
        Pair(number, round, start, first, second)
        for number, (start, first, second) in enumerate(met, first_number)
    ]


def shuffled(bots: Sequence[str], salt: str) -> list[str]:
    """The bots in an order that only the salt and their names decide."""
    # A digest and not `random`: its order is the same in every version of Python, and this stays pure.
    return sorted(bots, key=lambda bot: hashlib.sha256(f"{salt}/{bot}".encode()).digest())


def _circle(bots: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each two of `bots` once: one seat of the circle is fixed, the others turn by a place after each turn."""
    seats: list[str | None] = [*bots] if len(bots) % 2 == 0 else [*bots, None]
    half = len(seats) // 2
    for turn in range(len(seats) - 1):
        for left, right in zip(seats[:half], reversed(seats[half:]), strict=True):
            if left is not None and right is not None:
                # Alternating, so that the fixed seat is not always the first of its pair.
                yield (left, right) if turn % 2 == 0 else (right, left)
        seats = [seats[0], seats[-1], *seats[1:-1]]
