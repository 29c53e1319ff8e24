"""A queue for turns of the event loop: one small piece of work of one connection in a turn, and a pause after it.

The connections in the queue come to their turns late, and no other connection does.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Generic, TypeVar

PAUSE_SECONDS = 0.002
"""From one piece of a newcomer to the next where nobody plays: 250 connections come in a second."""
PLAY_PAUSE_SECONDS = 0.006
"""From one piece of a newcomer to the next where somebody has made a move meanwhile: a newcomer costs as much as some moves."""
QUICK_PAUSE_SECONDS = 0.002
"""From one move to the next of the addresses that play more than a server of many bots can give each of them."""
FLOOD_PAUSE_SECONDS = 0.004
"""From one piece of whoever sends much to the next."""


T = TypeVar("T")


class AddressQueue(Generic[T]):
    """What waits, by address: the addresses take turns, and what an address has waiting is in order."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()
        """The address that is first has the next turn."""

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def enter(self, address: str, each: T) -> None:
        """Let something of an address wait."""
        self._waiting.setdefault(address, deque()).append(each)

    def next(self) -> T:
        """Take out what has the next turn. Raises KeyError where nothing waits."""
        address, waiting = self._waiting.popitem(last=False)
        each = waiting.popleft()
        if waiting:
            self._waiting[address] = waiting
        return each

    def remove(self, address: str, each: T) -> None:
        """Take out something that waits no longer."""
        self._waiting[address].remove(each)
        if not self._waiting[address]:
            del self._waiting[address]


class TurnQueue:
    """Connections that wait for a turn of the event loop, with a pause after each; their addresses take turns."""

    def __init__(self, pause: Callable[[], float]) -> None:
        self._pause = pause
        """Tells the seconds from the end of one turn to the next; asked after each."""
        self._waiting: AddressQueue[Callable[[], None]] = AddressQueue()
        self._moving = False

    def enter(self, address: str, step: Callable[[], None]) -> None:
        """Call `step` in a turn of its own."""
        self._waiting.enter(address, step)
        if not self._moving:
            self._moving = True
            asyncio.get_running_loop().call_soon(self._move)

    def _move(self) -> None:
        if not self._waiting:
            self._moving = False
            return
        try:
            self._waiting.next()()
        finally:
            # What comes of a step takes time too, and the journal's thread waits for a loop that is never idle.
            asyncio.get_running_loop().call_later(self._pause(), self._move)
