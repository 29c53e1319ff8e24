"""Token bucket: `rate` tokens per second on average, and at most `burst` without a pause. Pure; times in monotonic ns."""

from __future__ import annotations


class TokenBucket:
    """Tokens of one client or address."""

    __slots__ = ("_at", "_burst", "_held", "_rate")

    def __init__(self, rate: float, burst: float, now: int) -> None:
        self._rate = rate / 1e9
        self._burst = self._held = float(burst)
        self._at = now

    def take(self, now: int) -> bool:
        """Take a token. Return False if there is none."""
        if now > self._at:
            self._held = min(self._burst, self._held + (now - self._at) * self._rate)
            self._at = now
        if self._held < 1:
            return False
        self._held -= 1
        return True

    def spend(self, count: float) -> None:
        """Take `count` tokens, even if that leaves a debt. The debt is at most the burst."""
        self._held = max(-self._burst, self._held - count)
