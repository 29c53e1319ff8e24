"""Token bucket, a rate limit: `rate` tokens per second on average, and at most `burst` at once.

Nothing here reads a clock: times are arguments, in monotonic ns.
"""

from __future__ import annotations


class TokenBucket:
    """Token bucket of one client or address."""

    __slots__ = ("_burst", "_rate", "_tokens", "_updated_ns")

    def __init__(self, rate: float, burst: float, now: int) -> None:
        """Start with a full bucket at time `now`.

        rate   number of tokens that the bucket gains per second
        burst  maximum number of tokens in the bucket
        """
        self._rate = rate / 1e9
        self._burst = self._tokens = float(burst)
        self._updated_ns = now

    def try_take_token(self, now: int) -> bool:
        """Take a token and return True; return False if there is none."""
        if now > self._updated_ns:
            self._tokens = min(self._burst, self._tokens + (now - self._updated_ns) * self._rate)
            self._updated_ns = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def take_tokens_with_debt(self, count: float) -> None:
        """Take `count` tokens, even if that leaves a debt. The debt is at most the burst."""
        self._tokens = max(-self._burst, self._tokens - count)
