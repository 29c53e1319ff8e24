"""How fast a client may send: a token bucket. Pure; times in ns."""

from __future__ import annotations

EASE = 0.75
"""The share of its burst that a client has left which sends little."""


class TokenBucket:
    """`rate` messages a second on the average, and `burst` without a pause. `now`: monotonic ns."""

    __slots__ = ("_arrived", "_at", "_burst", "_held", "_rate", "asked")

    def __init__(self, rate: float, burst: int, now: int) -> None:
        self._rate = rate / 1e9
        self._burst = float(burst)
        self._held = float(burst)
        self._at = now
        self.asked = 0
        """Messages that were asked for and have not come."""
        self._arrived = 0
        """Messages that have arrived and are not taken yet."""

    def expect(self, count: int) -> None:
        """So many messages have arrived, and will be taken as of their arrival; the time that they wait is not lost."""
        self._arrived += count

    def allow(self) -> None:
        """One message more is asked for, and will not be counted."""
        self.asked += 1

    def take(self, now: int) -> bool:
        """Whether one message more is within the limit at `now`; it is counted if so."""
        if self.asked > 0:  # as nearly always where somebody plays
            self.asked -= 1
            if self._arrived:
                self._arrived -= 1
            return True
        self._refill(now)
        if self._arrived:
            self._arrived -= 1
        if self._held < 1:
            return False
        self._held -= 1
        return True

    def take_all(self, count: int, now: int) -> bool:
        """Whether so many messages are within the limit at `now`; they are counted up to the first that is not."""
        return all(self.take(now) for _ in range(count))

    def spend(self, count: float) -> None:
        """Count so much more, whether it is within the limit or not."""
        self._held -= count

    def left(self, now: int) -> int:
        """How many messages more would be within the limit at `now`."""
        self._refill(now)
        return self.asked + max(0, int(self._held))

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
        if now > self._at:  # a message that waited is taken as of its arrival
            self._held = min(self._burst + self._arrived, self._held + (now - self._at) * self._rate)
            self._at = now
