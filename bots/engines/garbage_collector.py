"""Control of Python's garbage collector, which must not run while a bot thinks.

A transposition table consists of hundreds of thousands of objects. A full collection examines all of them while it holds
the interpreter's lock, long enough to lose a match on time. It would free nothing, because positions and table entries are
never in reference cycles.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

COLLECTION_INTERVAL_SECONDS = 60.0
"""Minimum number of seconds between two full collections.

A full collection takes a tenth of a second if the compiled search is loaded: as long as a whole short match. Searches
create few reference cycles, so more frequent collections would free little memory.
"""


class PausableGarbageCollector:
    """Garbage collector of this process, paused while any bot thinks. All bots share one instance."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with collection enabled. `clock` returns a monotonic time in seconds."""
        self._clock = clock
        self._lock = Lock()
        self._active_count = 0
        self._has_frozen = False
        """True if objects were frozen (`gc.freeze`, excluded from collections) since the last full collection."""
        self._collected_at = -math.inf
        """Time of the last full collection, in seconds on `clock`; -infinity before the first."""

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Disable garbage collection during the block. Only the next `collect_if_due` examines objects created in the block."""
        with self._lock:
            self._active_count += 1
            gc.disable()
        try:
            yield
        finally:
            with self._lock:
                self._active_count -= 1
                if not self._active_count:
                    gc.freeze()
                    self._has_frozen = True
                    gc.enable()

    def collect_if_due(self) -> None:
        """Run a full collection if one is due. Call this between matches.

        A full collection is due if collection was paused since the last full collection, no bot thinks now, and the last
        full collection was at least COLLECTION_INTERVAL_SECONDS ago. Objects created during pauses are examined, too.
        """
        with self._lock:
            now = self._clock()
            if (
                self._has_frozen
                and not self._active_count
                and now - self._collected_at >= COLLECTION_INTERVAL_SECONDS
            ):
                gc.unfreeze()
                gc.collect()
                self._has_frozen = False
                self._collected_at = now


GARBAGE_COLLECTOR = PausableGarbageCollector()
"""Control of the garbage collector that all engines of this process share."""
