"""Counter of wrong tokens for each client address. An address that sends too many of them is refused for a while.

Nothing here reads a clock: time is an argument, in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

from arena.server.core.bounded_dict import BoundedDict


@dataclass
class _FailedAttempts:
    first_time: float
    """Time of the first wrong token in the current window, in seconds."""
    count: int = 0
    blocked_until: float = float("-inf")
    """Time until which the address is refused, in seconds; -inf if it was never refused."""


MAX_FAILURES = 10
"""Number of wrong tokens within `WINDOW_SECONDS` after which an address is refused."""
WINDOW_SECONDS = 60.0
"""Period in which the wrong tokens of an address are counted, in seconds."""
PAUSE_SECONDS = 60.0
"""Longest time for which an address is refused, in seconds."""
MAX_ADDRESSES = 10_000
"""Maximum number of addresses to remember. The address whose last wrong token is oldest is forgotten first."""


def choose_pause_seconds(grace_seconds: float) -> float:
    """Return the number of seconds for which to refuse an address that sent too many wrong tokens.

    grace_seconds: time for a disconnected bot to return to its matches; 0 for none

    The refusal lasts at most half of `grace_seconds`, so that no bot loses matches because of others at its address.
    """
    return min(PAUSE_SECONDS, grace_seconds / 2) if grace_seconds > 0 else PAUSE_SECONDS


class FailedLogins:
    """Limit on wrong tokens: after too many of them in `WINDOW_SECONDS`, an address is refused for `pause_seconds`.

    IPv6 addresses of the same /64 network count as one.
    """

    def __init__(self, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._pause_seconds = pause_seconds
        self._attempts = BoundedDict[str, _FailedAttempts](MAX_ADDRESSES)

    def get_refusal_seconds_left(self, address: str, now: float) -> float:
        """Return the number of seconds for which an address is still refused; 0 if it may log in."""
        attempts = self._attempts.get(make_address_key(address))
        return max(0.0, attempts.blocked_until - now) if attempts else 0.0

    def record_failure(self, address: str, now: float, limit: int = MAX_FAILURES) -> None:
        """Count a wrong token from an address, and refuse the address if this token is the `limit`-th within `WINDOW_SECONDS`."""
        key = make_address_key(address)
        attempts = self._attempts.get(key)
        if attempts is None or now - attempts.first_time >= WINDOW_SECONDS:
            attempts = _FailedAttempts(
                now, blocked_until=attempts.blocked_until if attempts else float("-inf")
            )
        self._attempts[key] = attempts
        attempts.count += 1
        if attempts.count >= limit:
            attempts.blocked_until = now + self._pause_seconds
            attempts.count, attempts.first_time = 0, now


@lru_cache(maxsize=10_000)
def make_address_key(address: str) -> str:
    """Return the key under which clients of an address are counted: the IPv4 address, or the /64 network for IPv6.

    A text that is not an IP address is returned unchanged.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    # A client with one address of a /64 network usually controls all of them.
    return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"
