"""Counters of abuse by client address, for wrong tokens or misbehaving connections. An abusive address is refused.

Nothing here reads a clock: time is an argument, in monotonic seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

from arena.server.core.bounded_dict import BoundedDict


@dataclass
class _AddressAbuse:
    window_start_s: float
    """Time of the first abuse that `abuse_count` includes, in monotonic seconds."""
    abuse_count: int = 0
    blocked_until_s: float = float("-inf")
    """Time until which the address is refused, in monotonic seconds; -inf if it was never refused."""


MAX_WRONG_TOKENS_PER_WINDOW = 10
"""Number of wrong tokens within `ABUSE_WINDOW_SECONDS` at which an address is refused."""
ABUSE_WINDOW_SECONDS = 60.0
"""Time from the first abuse of an address to the reset of its count, in seconds."""
MAX_ABUSE_REFUSAL_SECONDS = 60.0
"""Maximum time for which connections from an address are refused after too much abuse, in seconds."""
MAX_REMEMBERED_ADDRESSES = 10_000
"""Maximum number of addresses to remember. The address whose last abuse is oldest is forgotten first."""


def compute_refusal_seconds(reconnect_grace_seconds: float) -> float:
    """Return the number of seconds for which to refuse an address after too much abuse, such as wrong tokens.

    reconnect_grace_seconds: time within which a disconnected bot must return to keep its matches; 0 if it cannot return

    The refusal lasts at most half of that time. So a disconnected bot can still return if another client at the same address
    has caused the refusal.
    """
    return (
        min(MAX_ABUSE_REFUSAL_SECONDS, reconnect_grace_seconds / 2)
        if reconnect_grace_seconds > 0
        else MAX_ABUSE_REFUSAL_SECONDS
    )


class AbuseCounter:
    """Counter of one kind of abuse, such as wrong tokens, by address, which decides whether an address is refused.

    refusal_seconds: time for which an address is refused after too much abuse in `ABUSE_WINDOW_SECONDS`

    All IPv6 addresses of a /64 network count as one address.
    """

    def __init__(self, refusal_seconds: float = MAX_ABUSE_REFUSAL_SECONDS) -> None:
        self._refusal_seconds = refusal_seconds
        self._abuse_by_address = BoundedDict[str, _AddressAbuse](MAX_REMEMBERED_ADDRESSES)

    def get_refusal_seconds_left(self, address: str, now_seconds: float) -> float:
        """Return the number of seconds for which an address is still refused; 0 if it is not refused."""
        abuse = self._abuse_by_address.get(make_address_key(address))
        return max(0.0, abuse.blocked_until_s - now_seconds) if abuse else 0.0

    def record_abuse(self, address: str, now_seconds: float, max_abuse_count: int) -> None:
        """Count one abuse, such as a wrong token, and refuse the address after `max_abuse_count` in `ABUSE_WINDOW_SECONDS`."""
        key = make_address_key(address)
        abuse = self._abuse_by_address.get(key)
        if abuse is None or now_seconds - abuse.window_start_s >= ABUSE_WINDOW_SECONDS:
            abuse = _AddressAbuse(
                now_seconds, blocked_until_s=abuse.blocked_until_s if abuse else float("-inf")
            )
        self._abuse_by_address[key] = abuse
        abuse.abuse_count += 1
        if abuse.abuse_count >= max_abuse_count:
            abuse.blocked_until_s = now_seconds + self._refusal_seconds
            abuse.abuse_count, abuse.window_start_s = 0, now_seconds


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
