"""Admission: who may open a connection at all, before a single message is read.

Connections are counted as soon as they are there, not when their handshake is done, so that one that
never finishes its handshake counts too. Behind a proxy that the host trusts, the client is whom the proxy names.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Collection
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from time import monotonic, monotonic_ns

from arena.server.net.by_address.failed_logins import FailedLogins, source
from arena.server.net.by_address.misdeeds import Misdeeds
from arena.server.net.keepalive import Keepalive
from arena.server.net.limits import HostLimits
from arena.server.net.queue import (
    FLOOD_PAUSE_SECONDS,
    PAUSE_SECONDS,
    PLAY_PAUSE_SECONDS,
    QUICK_PAUSE_SECONDS,
    TurnQueue,
)
from arena.server.net.request import Request
from arena.server.net.token_bucket import TokenBucket

log = logging.getLogger("arena.admission")

WINDOW_SECONDS = 60.0
"""The time in which connections that were cut off are counted, and for which their address is then refused."""

BURST_SECONDS = 0.2
"""An address that sends nothing may then send so many seconds' moves at once: ten may be as patient."""
LEAST_BURST = 8

IDLE_SHARE = 0.5
"""The share of the connections that there may be, in all and of an address, beyond which none waits for another request."""

HELD = 256
"""Refused connections that are kept open for a while; the next one is ended at once."""
HELD_SECONDS = 1.0
"""How long a refused connection is kept open: a client that comes back as soon as it is refused comes once in that
time, and costs the players nothing."""


class Admission:
    """Counts and bounds the connections of one server."""

    def __init__(
        self,
        limits: HostLimits,
        trusted_proxies: Collection[str],
        *,
        keepalive: Keepalive | None = None,
        flood_pause_seconds: float = FLOOD_PAUSE_SECONDS,
        quick_pause_seconds: float = QUICK_PAUSE_SECONDS,
        held: int = HELD,
        held_seconds: float = HELD_SECONDS,
        misdeeds: Misdeeds | None = None,
    ) -> None:
        """`held` refused connections are kept open for `held_seconds` each.

        Whoever sends much waits `flood_pause_seconds` from one piece of it to the next, and addresses that play more
        than comes before others wait `quick_pause_seconds` from one of their moves to the next.
        """
        self.limits = limits
        self._most_held = held
        self._misdeeds = misdeeds or Misdeeds(shared=False)
        self._held_seconds = held_seconds
        self._proxies: list[IPv4Network | IPv6Network] = [ip_network(each) for each in trusted_proxies]
        self._cut_off = FailedLogins(limit=limits.cut_offs, window=WINDOW_SECONDS, pause=WINDOW_SECONDS)
        self.newcomers = TurnQueue(self.newcomers_pause)
        """Where connections wait that have not sent a message yet."""
        self.floods = TurnQueue(lambda: flood_pause_seconds)
        """Where connections wait that have sent more than a player has to say."""
        self.quick = TurnQueue(lambda: quick_pause_seconds * self._taken)
        """Where the moves of an address wait that plays more of them than come before those of others."""
        self._taken = 1
        """Messages that were parsed in the latest turn."""
        self._moves: dict[str, TokenBucket] = {}
        """How many moves of each address that plays still come before those of others."""
        self.keepalive = keepalive or Keepalive()
        self._answers = 0
        """Messages that players were asked for, and have sent."""
        self._answers_before = 0
        self._said = 0.0
        """When a refusal was logged last, in monotonic seconds."""
        self._closed = False
        self._held: set[asyncio.Transport] = set()
        self.open: Counter[str] = Counter()
        """Connections by address; by its /64 network where that is an IPv6 address."""

    def answered(self) -> None:
        """A player has sent a message that it was asked for."""
        self._answers += 1

    def queue(self, *, new: bool, quick: bool) -> TurnQueue:
        """Where a connection waits to be parsed: a new one, one whose address plays much, or one that sends much."""
        return self.newcomers if new else self.quick if quick else self.floods

    def moves(self, address: str) -> TokenBucket:
        """What an address may send of what it is asked for before it waits for turns, all its connections together."""
        key = source(address)
        bucket = self._moves.get(key)
        if bucket is None:
            rate = self.limits.moves_per_second
            burst = max(LEAST_BURST, int(rate * BURST_SECONDS))
            bucket = self._moves[key] = TokenBucket(rate, burst, monotonic_ns())
        return bucket

    def parsed(self, messages: int) -> None:
        """In a turn, so many messages were parsed: the pause after it is one for each."""
        self._taken = max(1, messages)

    def newcomers_pause(self) -> float:
        """Seconds from one newcomer to the next, by whether somebody has played since the last."""
        before, self._answers_before = self._answers_before, self._answers
        return PAUSE_SECONDS if self._answers == before else PLAY_PAUSE_SECONDS

    def greet(self, address: str) -> bool:
        """Whether a connection may come in from a peer's address; it is counted if so."""
        return self.let_in(address, proxied=self.trusts(address))

    def client(self, request: Request, peer: str) -> str:
        """Whom a request from a peer's address comes from: a client that a trusted proxy names, or the peer."""
        if not self.trusts(peer):
            return peer
        return _forwarded_for(request) or peer

    def trusts(self, address: str) -> bool:
        """Whether an address is one of the host's own proxies."""
        if not self._proxies:
            return False
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._proxies)

    def has_room(self, address: str) -> bool:
        """Whether a connection from an address may wait for its next request, for there are few enough of them."""
        limits = self.limits
        if self._closed or self.open.total() > IDLE_SHARE * limits.connections:
            return False
        return (
            self.trusts(address) or self.open[source(address)] <= IDLE_SHARE * limits.connections_per_address
        )

    def let_in(self, address: str, *, proxied: bool = False) -> bool:
        """Whether one more connection from an address is within the limits; it is counted if so."""
        if self._closed or self.open.total() >= self.limits.connections:
            self._say("full: %d connections", self.open.total(), address)
            return False
        if not proxied and self._cut_off.wait(address, monotonic()) > 0:
            return False
        key = source(address)
        here_and_there = self.open[key] + self._misdeeds.connections(key)
        if not proxied and here_and_there >= self.limits.connections_per_address:
            self._say(
                "more than %d connections from one address", self.limits.connections_per_address, address
            )
            return False
        self.open[key] += 1
        return True

    def _say(self, why: str, number: int, address: str) -> None:
        """Log a refusal: one a second, so that who knocks a thousand times a second does not fill the disk."""
        now = monotonic()
        if now - self._said >= 1:
            self._said = now
            log.warning(why, number, extra={"address": address})

    def turn_away(self, transport: asyncio.Transport) -> None:
        """End a connection that may not come in, after a while in which nothing of it is read."""
        if self._closed or len(self._held) >= self._most_held:
            transport.abort()
            return
        transport.pause_reading()
        self._held.add(transport)
        asyncio.get_running_loop().call_later(self._held_seconds, self._end, transport)

    def _end(self, transport: asyncio.Transport) -> None:
        self._held.discard(transport)
        transport.abort()

    def close(self) -> None:
        """Let nobody in any more."""
        self._closed = True
        for transport in list(self._held):
            self._end(transport)

    def cut_off_elsewhere(self, address: str) -> None:
        """Another server of the arena had to end a connection from an address."""
        if not self.trusts(address):
            self._cut_off.wrong(address, monotonic())

    def leave(self, address: str) -> None:
        """A counted connection has ended."""
        key = source(address)
        self.open[key] -= 1
        if self.open[key] <= 0:
            del self.open[key]
            self._moves.pop(key, None)

    def cut_off(self, address: str) -> None:
        """A connection from an address had to be ended for what it did. After many the address is refused."""
        if self.trusts(address):
            return
        now = monotonic()
        self._misdeeds.cut_off(address)
        self._cut_off.wrong(address, now)
        if self._cut_off.wait(address, now) > 0:
            log.warning("refused for %g s: too many cut off", WINDOW_SECONDS, extra={"address": address})


def _forwarded_for(request: Request) -> str | None:
    """Whom a proxy names as its client: the last entry of X-Forwarded-For, which the proxy itself wrote."""
    values = request.headers.get_all("X-Forwarded-For")
    if not values:
        return None
    last = values[-1].rpartition(",")[2].strip()
    try:
        return str(ip_address(last))
    except ValueError:
        return None
