"""Keeps Python's garbage collector out of the time in which a bot thinks.

A transposition table is hundreds of thousands of objects, and a full collection walks all of them with
the interpreter's lock held: long enough to lose a match on time. Positions and entries are never in
cycles, so counting references frees them, and the walk would find nothing.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

TIDY_SECONDS = 60.0
"""The least time from one look at everything to the next. Where the compiled search is loaded a look takes a tenth of a
second, as long as a whole match may; what thinking leaves in cycles meanwhile is little."""


class Collector:
    """The collector of this process, which rests while anybody thinks; there is one of it, however many ask."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """clock: the time in seconds, which never goes back."""
        self._clock = clock
        self._lock = Lock()
        self._thinking = 0
        self._set_aside = False
        """Whether what thinking left was set aside since it was last collected."""
        self._tidied = -math.inf

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """No collection while anybody is in here; what they leave behind is not walked before `tidy`."""
        with self._lock:
            self._thinking += 1
            gc.disable()
        try:
            yield
        finally:
            with self._lock:
                self._thinking -= 1
                if not self._thinking:
                    gc.freeze()
                    self._set_aside = True
                    gc.enable()

    def tidy(self) -> None:
        """Between matches, when nobody thinks: collect also what `quiet` had set aside.

        Nothing is done within `TIDY_SECONDS` of the last time; otherwise every object of the process is walked.
        """
        with self._lock:
            now = self._clock()
            if self._set_aside and not self._thinking and now - self._tidied >= TIDY_SECONDS:
                gc.unfreeze()
                gc.collect()
                self._set_aside = False
                self._tidied = now


COLLECTOR = Collector()
"""What all engines of this process share."""
