"""Rate limits for many keys, such as addresses, by the generic cell rate algorithm (GCRA), which stores one number per key."""

from __future__ import annotations

from arena.server.core.bounded_dict import BoundedDict

MAX_RATE_LIMITED_KEYS = 10_000
"""Maximum number of keys, such as addresses, to remember. The key that was charged least recently is forgotten first."""


class RateLimit:
    """Rate limit for each key, such as an address, by the generic cell rate algorithm (GCRA).

    Each key has an allowance of time, which grows as time passes, up to the maximum `burst`. An action, such as a
    request, takes its cost from the allowance. Costs, times and `burst` have the same unit, for example ns.
    """

    def __init__(self, burst: float) -> None:
        self._burst = burst
        self._paid_until = BoundedDict[str, float](MAX_RATE_LIMITED_KEYS)
        """Time until which the allowance of each key is used up by its actions so far (GCRA's theoretical arrival time)."""

    def charge_or_compute_wait_time(self, key: str, cost: float, now: float) -> float:
        """Charge `cost`, a time, to a key and return 0.

        If the key's allowance is too small, charge nothing, and return the time until it suffices. A cost above the largest
        possible allowance (`burst`) is accepted once the allowance is full.
        """
        unpaid = max(0, self._paid_until.get(key, now) - now)
        excess = unpaid + min(cost, self._burst) - self._burst
        if excess > 0:
            return excess
        self._paid_until[key] = now + unpaid + cost
        return 0
