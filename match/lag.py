"""Lag credit: network delay, up to a budget, is not charged to a player's clock. Times are in ns.

The rule, which PROTOCOL.md publishes:

- The server pings each connection and remembers the last few ping times. The lag of a move is the
  *smallest* of them. So one slow ping gives no extra credit, and the server never relies on a lag that a client claims.
- A move is credited its lag, but never more than the move took, and never more than the rest of the budget.
- The budget starts full, at `MAX_LAG_BUDGET_NS`. Each of the player's moves adds `LAG_BUDGET_REFILL_PER_MOVE_NS`, up to this
  maximum.

So a connection with a lag of at most `LAG_BUDGET_REFILL_PER_MOVE_NS` plays as if it had none. With a larger lag, the excess
uses up the budget, and is then charged to the clock.
"""

from __future__ import annotations

from typing import Self

from msgspec import Struct

from arena.match.clock import NS_PER_MS

MAX_LAG_BUDGET_NS = 500 * NS_PER_MS
"""Maximum of a player's budget for network delay (lag credit), in ns."""
LAG_BUDGET_REFILL_PER_MOVE_NS = 100 * NS_PER_MS
"""Time, in ns, by which each move of a player refills the player's budget for network delay (lag credit)."""
MAX_REMEMBERED_PINGS = 8
"""Number of recent ping times that are remembered for each connection."""


class LagBudget(Struct, frozen=True, gc=False):
    """Budget of time that one player in one match can get back on the clock for network delay (lag credit)."""

    remaining_ns: int = MAX_LAG_BUDGET_NS
    """Time that can still be credited to the player, in ns."""

    def credit_lag(self, lag_ns: int, elapsed_ns: int) -> tuple[int, Self]:
        """Return the lag credit, in ns, for a move that took `elapsed_ns` with a lag of `lag_ns`, and the budget after it."""
        if not lag_ns and self.remaining_ns == MAX_LAG_BUDGET_NS:  # the usual case on a local network
            return 0, self
        credit_ns = max(0, min(lag_ns, elapsed_ns, self.remaining_ns))
        return credit_ns, type(self)(
            min(MAX_LAG_BUDGET_NS, self.remaining_ns - credit_ns + LAG_BUDGET_REFILL_PER_MOVE_NS)
        )


class RecentPings:
    """Recent ping times of one connection: round-trip times, in ns, the latest last."""

    def __init__(self) -> None:
        self._recent_pings_ns: list[int] = []  # a deque would take ten times the memory per connection
        self.smallest_ping_ns = 0
        """Smallest recent ping time, in ns; 0 before the first ping."""

    def add_ping(self, round_trip_ns: int) -> None:
        """Record the round-trip time of a ping, in ns."""
        self._recent_pings_ns = [*self._recent_pings_ns[1 - MAX_REMEMBERED_PINGS :], round_trip_ns]
        self.smallest_ping_ns = min(self._recent_pings_ns)
