"""How fast a client may send: a token bucket. Pure; times in ns."""

from __future__ import annotations


class Flow:
    """`rate` messages a second on the average, `burst` at once."""

    def __init__(self, rate: float, burst: int, now: int) -> None:
        self._rate = rate / 1e9
        self._burst = float(burst)
        self._held = float(burst)
        self._at = now
        self._asked = 0

    def allow(self) -> None:
        """One message more is asked for, and will be free."""
        self._asked += 1

    def take(self, now: int) -> bool:
        """Whether one message more is within the limit at `now`; it is counted if so."""
        self._held = min(self._burst, self._held + (now - self._at) * self._rate)
        self._at = now
        if self._asked > 0:
            self._asked -= 1
            return True
        if self._held < 1:
            return False
        self._held -= 1
        return True
