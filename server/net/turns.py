"""Turns of those who ask for what is dear to answer: a few at once, addresses one after another, and a rest after each.

What is asked for within the budgets of many addresses may still be more than the server can do beside the matches. The
rest after an answer is many times as long as the answer may take, so that all answers together take a share of the
server's time, however many ask.
"""

from __future__ import annotations

from asyncio import get_running_loop
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio

from arena.server.net.by_address.failed_logins import source
from arena.server.net.queue import AddressQueue

SHARE = 0.2
"""The share of the server's time that answers may take together, where each takes as long as it may."""

Later = Callable[[float, Callable[[], None]], object]
"""Calls something after so many seconds."""


def _later(seconds: float, call: Callable[[], None]) -> None:
    get_running_loop().call_later(seconds, call)


class Turns:
    """Turns for `at_once` answers at the same time."""

    def __init__(self, at_once: int, later: Later = _later) -> None:
        """`later` calls something after so many seconds; by the event loop where nothing else is given."""
        self._at_once = at_once
        self._free = at_once
        self._later = later
        self._waiting: AddressQueue[anyio.Event] = AddressQueue()

    @asynccontextmanager
    async def turn(self, address: str, cost: int) -> AsyncIterator[None]:
        """Wait for a turn of an address (a /64 network in IPv6) to make an answer that takes so many µs at the most."""
        await self._wait(source(address))
        try:
            yield
        finally:
            self._later(cost / 1e6 * self._at_once / SHARE, self._rested)

    async def _wait(self, key: str) -> None:
        if self._free > 0:
            self._free -= 1
            return
        mine = anyio.Event()
        self._waiting.enter(key, mine)
        try:
            await mine.wait()
        except BaseException:
            if mine.is_set():  # its turn had come just then
                self._rested()
            else:
                self._waiting.remove(key, mine)
            raise

    def _rested(self) -> None:
        """One turn more can be given."""
        if self._waiting:
            self._waiting.next().set()
        else:
            self._free += 1
