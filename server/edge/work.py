"""Work budget: a token bucket of µs for each address. Pure; times in monotonic seconds.

Requests differ in cost: a move takes a tenth of a millisecond, a table some milliseconds. If only requests were
counted, a few expensive ones could delay everybody.
"""

from __future__ import annotations

from collections import OrderedDict

from arena.server.edge.limits import HostLimits
from arena.server.failed_logins import address_key

BURST_SECONDS = 20.0
"""Longest time for which an address can save up its budget, in seconds, to use it in one burst."""
CAPACITY = 10_000
"""Maximum number of addresses. The address whose last request is oldest is forgotten first."""


class WorkBudget:
    """Remaining work for each address (a /64 network for IPv6). `spend` takes constant time."""

    def __init__(self, limits: HostLimits) -> None:
        """`limits` may change: `work_ms_per_second` is read at each use."""
        self._limits = limits
        self._budgets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Remaining work of each address, in µs, with the time at which it was computed."""

    def try_spend(self, address: str, cost: float, now: float) -> float:
        """Take `cost` µs of work from an address's budget and return 0, or return the seconds until the budget suffices.

        Work that costs more than a full budget is allowed for an address whose budget is full.
        """
        key = address_key(address)
        rate = 1000.0 * self._limits.work_ms_per_second
        most = rate * BURST_SECONDS
        budget, at = self._budgets.get(key, (most, now))
        budget = min(most, budget + (now - at) * rate)
        lacking = min(cost, most) - budget
        self._budgets[key] = budget - cost if lacking <= 0 else budget, now
        self._budgets.move_to_end(key)
        if len(self._budgets) > CAPACITY:
            self._budgets.popitem(last=False)
        return max(0.0, lacking / rate)
