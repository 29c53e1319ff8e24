"""Work budget: a limit on the CPU time that the server spends for each address. Times are in monotonic seconds.

CPU time is limited, not the number of requests, because requests differ in cost: a move takes a tenth of a millisecond, a
table of results some milliseconds.
"""

from __future__ import annotations

from arena.server.abuse_counter import make_address_key
from arena.server.core.limits import ServerLimits
from arena.server.core.rate_limit import RateLimit

WORK_BUDGET_REFILL_SECONDS = 20.0
"""Time in which an unused work budget (CPU time for an address) grows to its maximum, in seconds.

An address may use a full budget in one burst.
"""


class WorkBudget:
    """Limit on the CPU time per second that the server spends for the clients of one address.

    For IPv6, all addresses of a /64 network count as one. `charge_or_compute_wait_seconds` takes constant time.
    """

    def __init__(self, limits: ServerLimits) -> None:
        """Start with full budgets.

        Their refill rate, `limits.work_ms_per_second`, is read at each use.
        """
        self._limits = limits
        self._rate_limit = RateLimit(WORK_BUDGET_REFILL_SECONDS)

    def charge_or_compute_wait_seconds(self, address: str, cost_us: float, now_seconds: float) -> float:
        """Take `cost_us` µs from the budget of an address and return 0.

        If the budget is too small, take nothing, and return the seconds until it suffices. Work that costs more than a
        full budget is allowed if the budget is full.
        """
        seconds = cost_us / (1000.0 * self._limits.work_ms_per_second)
        return self._rate_limit.charge_or_compute_wait_time(make_address_key(address), seconds, now_seconds)
