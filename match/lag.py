"""Lag credit: what the network takes is not charged to the clock, within a budget. Pure; times in ns.

The rule, which PROTOCOL.md publishes:

- The server pings each connection, and remembers the last few ping times. The lag of a move is the
  *least* of them: a single slow ping credits nothing, and a client cannot claim a lag, only suffer it.
- A move is credited its lag, but never more than it took, and never more than is left in the budget.
- The budget begins full, at `CAP`; each move of the player's own puts back `REFILL`, up to `CAP`.

So a connection as far away as `REFILL` plays as if it were near; one that is farther pays the rest from
the budget, and then from its clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Self

from msgspec import Struct

from arena.match.clock import MS

CAP = 500 * MS
REFILL = 100 * MS
REMEMBERED = 8
"""Ping times that count as recent."""


class LagBudget(Struct, frozen=True, gc=False):
    """What may still be credited to one player in one match."""

    left: int = CAP

    def credit(self, lag: int, spent: int) -> tuple[int, Self]:
        """What a move is credited that took `spent` on a connection of this lag, and the budget after."""
        if not lag and self.left == CAP:  # as nearly always on a network that is near
            return 0, self
        credited = max(0, min(lag, spent, self.left))
        return credited, type(self)(min(CAP, self.left - credited + REFILL))


class Pings:
    """The recent ping times of one connection."""

    def __init__(self, times: Iterable[int] = ()) -> None:
        self._times = deque(times, maxlen=REMEMBERED)
        self.least = min(self._times, default=0)
        """The least recent ping time; 0 where nothing is known."""

    def add(self, time: int) -> None:
        """Note a ping that took `time` ns."""
        self._times.append(time)
        self.least = min(self._times)
