"""Work budget: a token bucket of server time, in µs, for each address. Pure; times in monotonic seconds.

Requests differ in cost: a move takes a tenth of a millisecond, a table of results some milliseconds. If only requests
were counted, a few expensive ones could delay everybody.
"""

from __future__ import annotations

from collections import OrderedDict

from arena.server.edge.limits import HostLimits
from arena.server.failed_logins import address_key

BURST_SECONDS = 20.0
"""Time in which an unused budget grows to its maximum, in seconds. An address may use all of it in one burst."""
MAX_ADDRESSES = 10_000
"""Maximum number of addresses to remember. The address whose last request is oldest is forgotten first."""


class WorkBudget:
    """Budget of work for each address (a /64 network for IPv6). `try_spend` takes constant time."""

    def __init__(self, limits: HostLimits) -> None:
        """`limits` may change: `work_ms_per_second` is read at each use."""
        self._limits = limits
        self._budgets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Remaining work of each address, in µs, with the time at which it was computed."""

    def try_spend(self, address: str, cost: float, now: float) -> float:
        """Take `cost` µs from the budget of an address and return 0.

        If the budget is too small, take nothing, and return the seconds until it suffices. Work that costs more than a
        full budget is allowed if the budget is full.
        """
        key = address_key(address)
        rate = 1000.0 * self._limits.work_ms_per_second
        most = rate * BURST_SECONDS
        budget, at = self._budgets.get(key, (most, now))
        budget = min(most, budget + (now - at) * rate)
        lacking = min(cost, most) - budget
        self._budgets[key] = budget - cost if lacking <= 0 else budget, now
        self._budgets.move_to_end(key)
        if len(self._budgets) > MAX_ADDRESSES:
            self._budgets.popitem(last=False)
        return max(0.0, lacking / rate)
