"""Rate limits by key: the generic cell rate algorithm, which keeps one integer for each key."""

from __future__ import annotations

from collections import OrderedDict

KEYS = 10_000
"""Keys that are kept. The one that asked longest ago is forgotten first."""


class RateLimit:
    """One event in `interval_ns` on the average, and `burst` at one moment."""

    def __init__(self, interval_ns: int, burst: int) -> None:
        self._interval = interval_ns
        self._tolerance = (burst - 1) * interval_ns
        self._due: OrderedDict[str, int] = OrderedDict()
        """Time at which an event would be due that keeps exactly to the rate, by key."""

    def allows(self, key: str, now: int) -> bool:
        """Return True if one more event is within the limit at `now`, and count it."""
        due = max(self._due.get(key, now), now)
        if due - now > self._tolerance:
            return False
        self._due[key] = due + self._interval
        self._due.move_to_end(key)
        if len(self._due) > KEYS:
            self._due.popitem(last=False)
        return True
