"""Notices that a store does not answer: one timer for all transactions, which is seldom set."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

AGAIN_SECONDS = 0.5
"""From one call to the next while there is still no answer: what was called off may have been something else, which came first."""


class Overdue:
    """Calls something when what is under way has no end by its time, and again and again until it has.

    A timer that falls too early is set anew: to set one for each of a thousand commits a second would cost more.
    """

    def __init__(self, late: Callable[[], None]) -> None:
        self._late = late
        self._end: float | None = None
        """When what is under way is overdue, in monotonic seconds; None where nothing is."""
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        """When the timer falls, where there is one."""

    def begin(self, end: float) -> None:
        """Something is under way that is overdue from monotonic second `end` on."""
        if self._timer is not None and end < self._due:
            self.stop()
        self._end = end
        if self._timer is None:
            self._set(end)

    def ended(self) -> None:
        """It has ended."""
        self._end = None

    def stop(self) -> None:
        """Nothing is under way, and nothing will be."""
        self._end = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set(self, due: float) -> None:
        self._due = due
        wait = max(0.0, due - monotonic())
        self._timer = asyncio.get_running_loop().call_later(wait, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._end is None:
            return
        now = monotonic()
        if now >= self._end:
            self._end = now + AGAIN_SECONDS
            self._late()
        if self._end is not None:
            self._set(self._end)
