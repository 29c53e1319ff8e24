"""The door: who may open a connection at all, before a single message is read.

Connections are counted as soon as they are there, not when their handshake is done, so that one that
never finishes it counts too. Behind a proxy that the host trusts, the client is whom the proxy names.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from http import HTTPStatus
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from time import monotonic

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from protocol.messages import SUBPROTOCOL
from server.net.answers import Answer
from server.net.connection import GuardedConnection
from server.net.failed_logins import FailedLogins, source
from server.net.keepalive import Keepalive
from server.net.limits import HostLimits
from server.net.queue import LONG_PAUSE, PAUSE, PLAY_PAUSE, TurnQueue
from server.net.token_bucket import TokenBucket

log = logging.getLogger("arena.door")

WINDOW = 60.0
"""Seconds in which connections that were cut off are counted, and for which their address is then refused."""

HELD = 256
"""Connections that were refused and are kept open for a while; the next one is ended at once."""
HELD_SECONDS = 1.0
"""Who comes back as soon as it is refused comes once in that time, and costs the players nothing."""

Pages = Callable[[Request, str], Awaitable[Answer | None]]
"""Answers a plain GET from an address; None where there is no such page."""


class Admission:
    """Counts and bounds the connections of one server."""

    def __init__(self, limits: HostLimits, trusted_proxies: Collection[str], pages: Pages) -> None:
        self._limits = limits
        self._proxies: list[IPv4Network | IPv6Network] = [ip_network(each) for each in trusted_proxies]
        self._pages = pages
        self._cut_off = FailedLogins(limit=limits.cut_offs, window=WINDOW, pause=WINDOW)
        self.newcomers, self.floods = TurnQueue(self.newcomers_pause), TurnQueue(lambda: LONG_PAUSE)
        self.keepalive = Keepalive()
        self.answers = 0
        self._answers_before = 0
        self._said = 0.0
        self._closed = False
        self._held: set[asyncio.Transport] = set()
        self.open: Counter[str] = Counter()
        """Connections by address; by its /64 network where that is an IPv6 address."""

    def connection_class(self) -> type[ServerConnection]:
        """The class of this door's connections, to be given to `websockets.serve`."""

        class Guarded(GuardedConnection):
            """Of this door."""

            keeper = self
            patience = self._limits.hello_seconds

        return Guarded

    def newcomers_pause(self) -> float:
        """Seconds from one newcomer to the next, by whether somebody has played since the last."""
        before, self._answers_before = self._answers_before, self.answers
        return PAUSE if self.answers == before else PLAY_PAUSE

    def bucket(self, now: int) -> TokenBucket:
        """What a new connection may send."""
        return TokenBucket(self._limits.messages_per_second, self._limits.message_burst, now)

    def greet(self, address: str) -> bool:
        """As `let_in`, for a connection that has not said yet for whom it comes."""
        return self.let_in(address, proxied=self.trusts(address))

    def trusts(self, address: str) -> bool:
        """Whether an address is one of the host's own proxies."""
        if not self._proxies:
            return False
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._proxies)

    def let_in(self, address: str, *, proxied: bool = False) -> bool:
        """Whether one more connection from an address is within the limits; it is counted if so."""
        if self._closed or self.open.total() >= self._limits.connections:
            self._say("full: %d connections", self.open.total(), address)
            return False
        if not proxied and self._cut_off.wait(address, monotonic()) > 0:
            return False
        key = source(address)
        if not proxied and self.open[key] >= self._limits.connections_per_address:
            self._say(
                "more than %d connections from one address", self._limits.connections_per_address, address
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
        if self._closed or len(self._held) >= HELD:
            transport.abort()
            return
        transport.pause_reading()
        self._held.add(transport)
        asyncio.get_running_loop().call_later(HELD_SECONDS, self._end, transport)

    def _end(self, transport: asyncio.Transport) -> None:
        self._held.discard(transport)
        transport.abort()

    def close(self) -> None:
        """Let nobody in any more."""
        self._closed = True
        for transport in list(self._held):
            self._end(transport)

    def leave(self, address: str) -> None:
        """A counted connection has ended."""
        key = source(address)
        self.open[key] -= 1
        if self.open[key] <= 0:
            del self.open[key]

    def cut_off(self, address: str) -> None:
        """A connection from an address had to be ended for what it did. After many the address is refused."""
        if self.trusts(address):
            return
        now = monotonic()
        self._cut_off.wrong(address, now)
        if self._cut_off.wait(address, now) > 0:
            log.warning("refused for %g s: too many cut off", WINDOW, extra={"address": address})

    async def admit(self, connection: ServerConnection, request: Request) -> Response | None:
        """Answer plain requests, refuse other versions of the protocol, and let the rest shake hands."""
        if request.headers.get("Upgrade", "").lower() != "websocket":
            return await self._answer(connection, request)
        address: str | None = getattr(connection, "client_address", None)
        if address is not None and self.trusts(address):
            named = _forwarded_for(request)
            if named is not None:
                self.leave(address)
                # the connection is counted for its client from here on
                connection.client_address = None  # type: ignore[attr-defined]
                if not self.let_in(named):
                    return connection.respond(HTTPStatus.TOO_MANY_REQUESTS, "too many connections\n")
                connection.client_address = named  # type: ignore[attr-defined]
        values = request.headers.get_all("Sec-WebSocket-Protocol")
        offered = [part.strip() for value in values for part in value.split(",")]
        if SUBPROTOCOL not in offered:
            said = ", ".join(offered) or "none"
            text = f"subprotocol {SUBPROTOCOL} is needed, not {said:.100}\n"
            return connection.respond(HTTPStatus.BAD_REQUEST, text)
        return None

    async def _answer(self, connection: ServerConnection, request: Request) -> Response:
        address = getattr(connection, "client_address", None) or "unknown"
        if self.trusts(address):
            address = _forwarded_for(request) or address
        found = await self._pages(request, address)
        if found is None:
            text = f"there is no such page; bots connect here by websocket, as {SUBPROTOCOL}\n"
            return connection.respond(HTTPStatus.NOT_FOUND, text)
        response = connection.respond(found.status, "")
        for name in ("Content-Type", "Content-Length"):
            del response.headers[name]
        for name, value in found.headers.items():
            response.headers[name] = value
        response.headers["Content-Type"] = found.kind
        response.headers["Content-Length"] = str(len(found.body))
        response.body = found.body
        return response


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
