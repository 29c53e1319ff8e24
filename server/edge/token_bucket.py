"""Token bucket, a rate limit: a number of actions, such as messages, per second on average, and more in a burst.

Nothing here reads a clock: times are arguments, in monotonic ns.
"""

from __future__ import annotations


class TokenBucket:
    """Token bucket (rate limit) of one client or address. Each action, such as a message, takes a token."""

    __slots__ = ("_max_tokens", "_tokens", "_tokens_per_ns", "_updated_ns")

    def __init__(self, tokens_per_second: float, max_tokens: float, now_ns: int) -> None:
        """Start with a full bucket at time `now_ns`.

        tokens_per_second  number of tokens that the bucket gains per second
        max_tokens         number of tokens in a full bucket, which can be taken at once
        """
        self._tokens_per_ns = tokens_per_second / 1e9
        self._max_tokens = self._tokens = float(max_tokens)
        self._updated_ns = now_ns

    def try_take_token(self, now_ns: int) -> bool:
        """Take one token and return True. If the bucket holds less than one token, return False."""
        if now_ns > self._updated_ns:
            self._tokens = min(
                self._max_tokens, self._tokens + (now_ns - self._updated_ns) * self._tokens_per_ns
            )
            self._updated_ns = now_ns
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def take_tokens_with_debt(self, token_count: float) -> None:
        """Take `token_count` tokens, even if fewer are left. The debt is at most the number of tokens in a full bucket."""
        self._tokens = max(-self._max_tokens, self._tokens - token_count)
