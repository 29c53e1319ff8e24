"""TimeSource for tests with threads of a store, which have no virtual time: a sleep advances the clock and does not wait."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from anyio.lowlevel import checkpoint

from arena.clock import TimeSource


class HurriedClock(TimeSource):
    """A clock that goes on by as much as somebody sleeps, at once. `then` is called after each sleep."""

    def __init__(self, then: Callable[[], Awaitable[None]] = checkpoint) -> None:
        super().__init__(lambda: round(self.time * 1e9))
        self.time = 0.0
        """Seconds that were slept."""
        self.slept: list[float] = []
        self.then = then

    async def sleep(self, seconds: float) -> None:
        self.time += seconds
        self.slept.append(seconds)
        await self.then()
        await checkpoint()
