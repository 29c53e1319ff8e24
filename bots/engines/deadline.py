"""When a search must end, and how long the machine kept it from seeing that."""

from __future__ import annotations

import time
from collections.abc import Callable


class Deadline:
    """The hard limit of one search, on the scale of `time.monotonic()`.

    `stall` is the longest time, in seconds, between two looks at the clock: what is much more than a
    node takes is the machine's doing, which had other things to run.
    """

    def __init__(self, hard: float, stopped: Callable[[], bool]) -> None:
        self.stall = 0.0
        self._hard = hard
        self._stopped = stopped
        self._last = time.monotonic()

    def look(self) -> float:
        """The time now, as `time.monotonic()` tells it."""
        now = time.monotonic()
        self.stall = max(self.stall, now - self._last)
        self._last = now
        return now

    def stop(self) -> bool:
        """Whether the search is to end. Called at every node."""
        return self.look() >= self._hard or self._stopped()
