"""A lane: one small piece of work of one connection in a turn of the event loop, and a pause after it.

Those who are in it come to their turns late, and nobody else does.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable

PAUSE = 0.002
"""Seconds from one piece of a newcomer to the next where nobody plays: 250 come in a second ..."""
PLAY_PAUSE = 0.006
"""... and where somebody has made a move meanwhile: a newcomer costs as much as some moves."""
LONG_PAUSE = 0.004
"""Seconds from one piece of whoever sends much to the next."""


class TurnQueue:
    """Those who wait for a turn of the event loop, with a pause after each; the addresses that they come from take turns."""

    def __init__(self, pause: Callable[[], float]) -> None:
        self._pause = pause
        """Tells the seconds to the next of them."""
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
