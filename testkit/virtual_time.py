"""Event loop with a virtual clock: when nothing is ready to run, time jumps to the next timer, so that no test waits.

The loop is asyncio's, with a selector that does not wait. Threads and other processes do not share the clock, so a test
of code that depends on them needs a real loop.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from arena.clock import TimeSource

T = TypeVar("T")

MIN_CLOCK_STEP_S = 1e-9
"""Minimum step of the virtual clock, in seconds.

A shorter step could be rounded away, so that the clock would never reach the next timer.
"""


class NoTimerSet(Exception):
    """Raised when all tasks wait and no timer is set, so that a real loop would wait forever."""


class _VirtualTimeSelector(selectors.DefaultSelector):
    """Selector that never waits: where a real selector would wait for a timer, this selector advances the clock of its loop."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(0)
        if not ready:
            if timeout is None:
                raise NoTimerSet("deadlock: all tasks wait, and no timer is set")
            self.loop.advance(timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Event loop on a virtual clock, which starts at 1,000 s."""

    def __init__(self) -> None:
        self._now = 1_000.0
        selector = _VirtualTimeSelector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self._now

    def now_ns(self) -> int:
        """Return the time of the virtual clock, in ns. The clock starts at 1,000 s."""
        return round(self._now * 1e9)

    def advance(self, seconds: float) -> None:
        """Advance the virtual clock by `seconds`. Timers that become due run in the next iteration of the loop."""
        self._now += max(seconds, MIN_CLOCK_STEP_S if seconds > 0 else 0.0)


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a virtual clock, and return its result.

    Raises NoTimerSet if all tasks wait for something that never happens.
    """
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


def now_ns() -> int:
    """Return the virtual time of the running loop, which must be a VirtualLoop, in ns."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop.now_ns()


VIRTUAL_CLOCK = TimeSource(now_ns, now_ns)
"""Time source for code that runs on a VirtualLoop (event loop with a virtual clock)."""
