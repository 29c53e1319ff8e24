"""The pulse of all connections: each is pinged every few seconds, which tells its lag, and is given up when it is silent.

The library has a task for each connection, and timers and locks around each ping. One task for all costs a server
with a thousand connections a tenth of that, and never pings many of them in one turn of the event loop.
"""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic
from typing import Protocol

import anyio

PING_SECONDS = 10.0
"""From one ping to the next of a connection."""
PONG_SECONDS = 20.0
"""How long a ping may be unanswered."""
AT_ONCE = 4
"""Connections in one turn of the event loop ..."""
PAUSE = 0.002
"""... and seconds to the next turn: 20,000 connections are pinged in time."""


class Beating(Protocol):
    """A connection."""

    def beat(self) -> None:
        """Ping the peer, or give it up."""
        ...


class Keepalive:
    """Makes connections beat, each `PING_SECONDS` after the last time. `run` must be under way."""

    def __init__(self) -> None:
        self._due: OrderedDict[Beating, float] = OrderedDict()

    def add(self, connection: Beating, now: float | None = None) -> None:
        """From now on (monotonic seconds)."""
        self._due[connection] = (monotonic() if now is None else now) + PING_SECONDS

    def remove(self, connection: Beating) -> None:
        """Not any more; one that never did is no fault."""
        self._due.pop(connection, None)

    async def run(self) -> None:
        """Keep all of them beating, until cancelled."""
        while True:
            pause = self.step(monotonic())
            await anyio.sleep(pause)

    def step(self, now: float) -> float:
        """Some of those that are due at `now`; the seconds until it is to be called again."""
        for _ in range(AT_ONCE):
            first = next(iter(self._due.items()), None)
            if first is None:
                return PING_SECONDS  # who comes now is due then
            connection, due = first
            if due > now:
                return due - now
            self._due[connection] = now + PING_SECONDS
            self._due.move_to_end(connection)
            connection.beat()
        return PAUSE
