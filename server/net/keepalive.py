"""Keepalive: each connection is pinged every few seconds, which tells its lag, and is given up when it is silent.

One task for all connections, and not one for each with its timers and locks, costs a server with a thousand
connections a tenth of the time; and it never pings many of them in one turn of the event loop.
"""

from __future__ import annotations

from collections import OrderedDict
from random import getrandbits
from time import monotonic
from typing import Protocol

import anyio

from arena.match.lag import Pings

PING_SECONDS = 10.0
"""From one ping to the next of a connection."""
PONG_SECONDS = 20.0
"""How long a ping may be unanswered."""
PINGS_A_TURN = 4
"""Connections that are pinged in one turn of the event loop."""
PAUSE_SECONDS = 0.002
"""From one turn to the next where more connections are due: 20,000 connections are pinged in time."""


class Pinged(Protocol):
    """A connection, as it is kept alive."""

    def ping(self) -> None:
        """Ping the peer, or give it up."""
        ...


class Keepalive:
    """Has connections ping, each some seconds after the last time. `run` must be under way."""

    def __init__(self, *, ping_seconds: float = PING_SECONDS, pong_seconds: float = PONG_SECONDS) -> None:
        """`ping_seconds` pass from one ping to the next of a connection; a ping may be unanswered for `pong_seconds`."""
        self.pong_seconds = pong_seconds
        self._ping_seconds = ping_seconds
        self._due: OrderedDict[Pinged, float] = OrderedDict()
        """When each connection is to ping, in monotonic seconds, the earliest first."""

    def add(self, connection: Pinged, now: float | None = None) -> None:
        """Have a connection ping from now on (monotonic seconds)."""
        self._due[connection] = (monotonic() if now is None else now) + self._ping_seconds

    def remove(self, connection: Pinged) -> None:
        """Have a connection ping no more; one that was never added is no fault."""
        self._due.pop(connection, None)

    async def run(self) -> None:
        """Have all of them ping, until cancelled."""
        while True:
            pause = self.step(monotonic())
            await anyio.sleep(pause)

    def step(self, now: float) -> float:
        """Have some of those ping that are due at `now`; the seconds until `step` is to be called again."""
        for _ in range(PINGS_A_TURN):
            first = next(iter(self._due.items()), None)
            if first is None:
                return self._ping_seconds  # a connection that comes now is due then
            connection, due = first
            if due > now:
                return due - now
            self._due[connection] = now + self._ping_seconds
            self._due.move_to_end(connection)
            connection.ping()
        return PAUSE_SECONDS


class OpenPings:
    """The pings of one connection: which are unanswered, and how long the others took. Times in monotonic ns."""

    __slots__ = ("_pong_ns", "_sent", "_times", "lag")

    def __init__(self, pong_seconds: float = PONG_SECONDS) -> None:
        """A ping may be unanswered for `pong_seconds`."""
        self._pong_ns = pong_seconds * 1e9
        self._sent: dict[bytes, int] = {}
        """When each ping was sent that is not answered, by its payload, the oldest first."""
        self._times = Pings()
        self.lag = 0
        """The least recent ping time, in ns; 0 where none is known."""

    def overdue(self, now: int) -> bool:
        """Whether a ping has been unanswered for too long."""
        oldest = next(iter(self._sent.values()), now)
        return now - oldest >= self._pong_ns

    def new(self, now: int) -> bytes:
        """The payload of a ping that is sent now, which nobody can guess."""
        payload = getrandbits(32).to_bytes(4, "big")
        self._sent[payload] = now
        return payload

    def answered(self, payload: bytes, now: int) -> None:
        """A pong has come; it answers the pings before its own too (RFC 6455, section 5.5.3)."""
        sent = self._sent.get(payload)
        if sent is None:
            return  # a pong that nobody asked for is no fault
        self._times.add(now - sent)
        self.lag = self._times.least
        while payload in self._sent:
            del self._sent[next(iter(self._sent))]
