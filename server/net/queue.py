"""A queue for turns of the event loop: one small piece of work of one connection in a turn, and a pause after it.

The connections in the queue come to their turns late, and no other connection does.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable

PAUSE_SECONDS = 0.002
"""From one piece of a newcomer to the next where nobody plays: 250 connections come in a second."""
PLAY_PAUSE_SECONDS = 0.006
"""From one piece of a newcomer to the next where somebody has made a move meanwhile: a newcomer costs as much as some moves."""
QUICK_PAUSE_SECONDS = 0.001
"""From one move to the next of the addresses that play more than a server of many bots can give each of them."""
FLOOD_PAUSE_SECONDS = 0.004
"""From one piece of whoever sends much to the next."""


class TurnQueue:
    """Connections that wait for a turn of the event loop, with a pause after each; their addresses take turns."""

    def __init__(self, pause: Callable[[], float]) -> None:
        self._pause = pause
        """Tells the seconds from one turn to the next."""
        self._waiting: OrderedDict[str, deque[Callable[[], None]]] = OrderedDict()
        self._moving = False

    def enter(self, address: str, step: Callable[[], None]) -> None:
        """Call `step` in a turn of its own."""
        self._waiting.setdefault(address, deque()).append(step)
        if not self._moving:
            self._moving = True
            asyncio.get_running_loop().call_soon(self._move)

    def _move(self) -> None:
        if not self._waiting:
            self._moving = False
            return
        # What comes of a step takes time too, and the journal's thread waits for a loop that is never idle.
        asyncio.get_running_loop().call_later(self._pause(), self._move)
        address, steps = self._waiting.popitem(last=False)
        step = steps.popleft()
        if steps:
            self._waiting[address] = steps
        step()
