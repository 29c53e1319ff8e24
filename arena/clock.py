"""Monotonic time and waiting, for code whose tests run in virtual time.

Classes receive a `TimeSource` in their constructor. Waits and time limits use the time of the running event loop. Tests use
an event loop with virtual time and its clock (`testkit.virtual_time.VIRTUAL_CLOCK`), so that hours pass in milliseconds.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any


class TimeSource:
    """Clock that returns the monotonic time, and waits on the running event loop."""

    def __init__(
        self,
        now_ns: Callable[[], int] = time.monotonic_ns,
        cpu_time_ns: Callable[[], int] = time.thread_time_ns,
    ) -> None:
        """Create a time source.

        now_ns       function that returns the monotonic time, in ns
        cpu_time_ns  function that returns a CPU time, in ns; by default that of the calling thread
        """
        self.now_ns = now_ns
        self.cpu_time_ns = cpu_time_ns

    def now(self) -> float:
        """Return the monotonic time in seconds."""
        return self.now_ns() / 1e9

    def sleep(self, seconds: float) -> Coroutine[Any, Any, None]:
        """Wait for `seconds`. With 0, let other tasks run once."""
        return asyncio.sleep(seconds)

    def call_later(
        self, seconds: float, callback: Callable[..., object], *arguments: Any
    ) -> asyncio.TimerHandle:
        """Schedule `callback(*arguments)` after `seconds`. Cancel the returned handle to prevent the call."""
        return asyncio.get_running_loop().call_later(seconds, callback, *arguments)


MONOTONIC_CLOCK = TimeSource()
"""Time source that reads the machine's clock, `time.monotonic_ns()`."""


def get_seconds_to_task_deadline() -> float:
    """Return the seconds until the time limit of the running task; infinity if the task has none."""
    import anyio  # noqa: PLC0415  commands that only search read the time too, and start without it

    return anyio.current_effective_deadline() - anyio.current_time()


def block_thread(seconds: float) -> None:
    """Block the calling thread for `seconds`. Never call this function in a thread with an event loop."""
    time.sleep(seconds)
