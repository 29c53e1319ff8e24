"""Rate limits by key: the generic cell rate algorithm (GCRA), which stores one integer per key."""

from __future__ import annotations

from collections import OrderedDict

MAX_KEYS = 10_000
"""Maximum number of keys. The least recently used key is forgotten first."""


class RateLimit:
    """Rate limit for each key: on average one event per `interval_ns`, and at most `burst` events at once."""

    def __init__(self, interval_ns: int, burst: int) -> None:
        self._interval = interval_ns
        self._tolerance = (burst - 1) * interval_ns
        self._due_times: OrderedDict[str, int] = OrderedDict()
        """GCRA's theoretical arrival time of each key, in ns: the time of its next event at exactly the limiting rate."""

    def try_acquire(self, key: str, now: int) -> bool:
        """Return True and count an event if it is within the limit at `now`; return False otherwise."""
        free_at = max(self._due_times.get(key, now), now)
        if free_at - now > self._tolerance:
            return False
        self._due_times[key] = free_at + self._interval
        self._due_times.move_to_end(key)
        if len(self._due_times) > MAX_KEYS:
            self._due_times.popitem(last=False)
        return True
