"""How fast a client may send: a token bucket. Pure; times in ns."""

from __future__ import annotations

EASE = 0.75
"""The share of its burst that a client has left which sends little."""


class TokenBucket:
    """`rate` messages a second on the average, and `burst` without a pause. `now`: monotonic ns."""

    __slots__ = ("_at", "_burst", "_held", "_rate", "asked")

    def __init__(self, rate: float, burst: int, now: int) -> None:
        self._rate = rate / 1e9
        self._burst = float(burst)
        self._held = float(burst)
        self._at = now
        self.asked = 0
        """Messages that were asked for and have not come."""

    def allow(self) -> None:
        """One message more is asked for, and will not be counted."""
        self.asked += 1

    def take(self, now: int) -> bool:
        """Whether one message more is within the limit at `now`; it is counted if so."""
        if self.asked > 0:
            self.asked -= 1
            return True
        self._refill(now)
        if self._held < 1:
            return False
        self._held -= 1
        return True

    def take_all(self, count: int, now: int) -> bool:
        """Whether so many messages are within the limit at `now`; they are counted up to the first that is not."""
        return all(self.take(now) for _ in range(count))

    def left(self, now: int) -> int:
        """How many messages more would be within the limit at `now`."""
        self._refill(now)
        return self.asked + int(self._held)

    def easy(self, count: int, now: int) -> bool:
        """Whether so many messages are asked for, or come from one that sends little."""
        if count <= self.asked:
            return True
        self._refill(now)
        return self._held - (count - self.asked) >= EASE * self._burst

    def overrun(self) -> None:
        """More has arrived than the limit allows: from now on no message is within it."""
        self._rate = self._held = 0.0
        self.asked = 0

    def _refill(self, now: int) -> None:
        self._held = min(self._burst, self._held + (now - self._at) * self._rate)
        self._at = now
