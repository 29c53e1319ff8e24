"""The door: who may open a connection at all, before a single message is read.

Connections are counted as soon as they are there, not when their handshake is done, so that one that
never finishes it counts too. Behind a proxy that the host trusts, the client is whom the proxy names.
"""

from __future__ import annotations

import logging
from asyncio import transports
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from http import HTTPStatus
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from time import monotonic_ns
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import Event

from protocol.messages import SUBPROTOCOL
from server.answers import Answer
from server.flow import Flow
from server.guesses import source
from server.limits import HostLimits

log = logging.getLogger("arena.door")

CONTROLS = {Opcode.PING, Opcode.PONG, Opcode.CLOSE}
CONTROLS_PER_SECOND = 10.0
"""Control frames that a client may send on the average; each ping is answered."""
CONTROL_BURST = 100
MOST_FRAGMENTS = 1024
"""Frames that one message may come in. They are kept until the last is there, also those that hold nothing."""

Pages = Callable[[Request, str], Awaitable[Answer | None]]
"""Answers a plain GET from an address; None where there is no such page."""


class Door:
    """Counts and bounds the connections of one server."""

    def __init__(self, limits: HostLimits, trusted_proxies: Collection[str], pages: Pages) -> None:
        self._limits = limits
        self._proxies: list[IPv4Network | IPv6Network] = [ip_network(each) for each in trusted_proxies]
        self._pages = pages
        self.closed = False
        self.open: Counter[str] = Counter()
        """Connections by address; by its /64 network where that is an IPv6 address."""

    def connection_class(self) -> type[ServerConnection]:
        """The class of this door's connections, to be given to `websockets.serve`."""
        door = self

        class GuardedConnection(ServerConnection):
            """A connection that is counted from its first moment to its last."""

            client_address: str | None = None

            def connection_made(self, transport: transports.BaseTransport) -> None:
                super().connection_made(transport)
                address = _host_of(transport.get_extra_info("peername"))
                self._fragments = 0
                self._controls = Flow(CONTROLS_PER_SECOND, CONTROL_BURST, monotonic_ns())
                if not door.let_in(address, proxied=door.trusts(address)):
                    self.transport.abort()
                    return
                self.client_address = address

            def process_event(self, event: Event) -> None:
                if isinstance(event, Frame) and not self._bearable(event):
                    log.warning("a flood of frames", extra={"address": self.client_address})
                    self.transport.abort()
                    return
                super().process_event(event)

            def _bearable(self, frame: Frame) -> bool:
                """Whether a frame is within what no limit on messages sees: control frames, and fragments."""
                if frame.opcode in CONTROLS:
                    return self._controls.take(monotonic_ns())
                self._fragments = 0 if frame.fin else self._fragments + 1
                return self._fragments <= MOST_FRAGMENTS

            def connection_lost(self, exc: Exception | None) -> None:
                if self.client_address is not None:
                    door.leave(self.client_address)
                super().connection_lost(exc)

        return GuardedConnection

    def trusts(self, address: str) -> bool:
        """Whether an address is one of the host's own proxies."""
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._proxies)

    def let_in(self, address: str, *, proxied: bool = False) -> bool:
        """Whether one more connection from an address is within the limits; it is counted if so."""
        if self.closed or self.open.total() >= self._limits.connections:
            log.warning("full: %d connections", self.open.total(), extra={"address": address})
            return False
        key = source(address)
        if not proxied and self.open[key] >= self._limits.connections_per_address:
            log.warning("too many connections from one address", extra={"address": address})
            return False
        self.open[key] += 1
        return True

    def leave(self, address: str) -> None:
        """A counted connection has ended."""
        key = source(address)
        self.open[key] -= 1
        if self.open[key] <= 0:
            del self.open[key]

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


def _host_of(peer: Any) -> str:
    """The address of a socket's peer, an IPv4 one always as such; a Unix socket's is its own kind."""
    if not (isinstance(peer, tuple) and peer):
        return "local"
    address = str(peer[0]).partition("%")[0]
    return address.removeprefix("::ffff:") if "." in address else address


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
