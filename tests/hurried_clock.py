"""Clock whose sleeps end at once, for tests of a store, whose threads cannot run on virtual time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from anyio.lowlevel import checkpoint

from arena.clock import TimeSource


class HurriedClock(TimeSource):
    """Clock that a sleep advances without waiting. `then` is called after each sleep."""

    def __init__(self, then: Callable[[], Awaitable[None]] = checkpoint) -> None:
        super().__init__(lambda: round(self.time * 1e9))
        self.time = 0.0
        """Sum of all sleeps so far, in seconds."""
        self.slept: list[float] = []
        self.then = then

    async def sleep(self, seconds: float) -> None:
        self.time += seconds
        self.slept.append(seconds)
        await self.then()
        await checkpoint()
