"""Wrong tokens counted by address: an address that sends many is refused for a while.

Nothing here reads a clock: time is an argument, in seconds.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address


@dataclass
class _Tries:
    since: float
    """When the first of the wrong tokens that are counted came."""
    count: int = 0
    until: float = float("-inf")
    """The time until which the address is refused."""


PAUSE_SECONDS = 60.0
"""For how long an address is refused, where the matches of its bots wait for longer."""


def pause_within(grace: float) -> float:
    """For how many seconds an address is refused where lost bots have `grace` seconds to return.

    It is open again when half of that is over: what others at its address do then costs no bot its matches.
    """
    return min(PAUSE_SECONDS, grace / 2) if grace > 0 else PAUSE_SECONDS


class FailedLogins:
    """At most `limit` wrong tokens within `window` from one address; then nothing more for `pause`.

    It keeps at most `capacity` addresses, and forgets the one that was wrong longest ago first.
    """

    def __init__(
        self, *, limit: int = 10, window: float = 60, pause: float = PAUSE_SECONDS, capacity: int = 10_000
    ) -> None:
        self._limit = limit
        self._window = window
        self._pause = pause
        self._capacity = capacity
        self._tries: OrderedDict[str, _Tries] = OrderedDict()

    def wait(self, address: str, now: float) -> float:
        """How long the address is refused from now; 0 when it may try."""
        tries = self._tries.get(source(address))
        return max(0.0, tries.until - now) if tries else 0.0

    def wrong(self, address: str, now: float) -> None:
        """A wrong token came from the address."""
        key = source(address)
        tries = self._tries.get(key)
        if tries is None or now - tries.since >= self._window:
            tries = self._tries[key] = _Tries(now, until=tries.until if tries else float("-inf"))
        self._tries.move_to_end(key)
        tries.count += 1
        if tries.count >= self._limit:
            tries.until = now + self._pause
            tries.count, tries.since = 0, now
        if len(self._tries) > self._capacity:
            self._tries.popitem(last=False)


@lru_cache(maxsize=10_000)
def source(address: str) -> str:
    """What counts as one address: an IPv4 address, or the /64 network that an IPv6 address comes from."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    # Whoever has one address of a /64 has all of them.
    return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"
