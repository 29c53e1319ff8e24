"""How much work an address may ask for: a token bucket of microseconds for each. Pure; times in monotonic seconds.

What a client asks for costs more or less: a move a tenth of a millisecond, a map or a table some milliseconds. Where
requests were counted alike, a few of the dear ones would hold up everybody.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from arena.server.net.by_address.failed_logins import source

BURST_SECONDS = 20.0
"""How long an address that asks for nothing saves up: so many seconds' work it may then ask for at once."""
CAPACITY = 10_000
"""Addresses that are kept; the one that asked longest ago is forgotten first."""


class WorkBudget:
    """What each address (a /64 network in IPv6) may still ask for. An `ask` takes constant time."""

    def __init__(
        self, ms_per_second: float, tell: Callable[[str, float], None] = lambda _key, _cost: None
    ) -> None:
        """`ms_per_second` is what each address may ask for on the average, in ms of the server's time a second.

        `tell` is told of what is taken from a budget: the address, as it is counted, and the µs.
        """
        self._tell = tell
        self._rate = 1000.0 * ms_per_second
        self._most = self._rate * BURST_SECONDS
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """What an address had left, in µs, and when."""

    def ask(self, address: str, cost: float, now: float) -> float:
        """0 where work of so many µs is within the budget, which it is then taken from; else the seconds until it would be.

        What costs more than anybody can save up is within the budget of an address that has saved up all it can.
        """
        key = source(address)
        left = self._saved(key, now)
        lacking = min(cost, self._most) - left
        if lacking <= 0:
            left -= cost
            self._tell(key, cost)
        self._keep(key, left, now)
        return max(0.0, lacking / self._rate)

    def take(self, key: str, cost: float, now: float) -> None:
        """Take from an address, as it is counted, what it has asked of another server, whether it is there or not."""
        self._keep(key, self._saved(key, now) - cost, now)

    def _saved(self, key: str, now: float) -> float:
        """What an address has left, with what it has saved up since it was asked last."""
        left, at = self._left.get(key, (self._most, now))
        return min(self._most, left + (now - at) * self._rate)

    def _keep(self, key: str, left: float, now: float) -> None:
        self._left[key] = left, now
        self._left.move_to_end(key)
        if len(self._left) > CAPACITY:
            self._left.popitem(last=False)
