"""Settings of the Python interpreter for a server: garbage collection and thread switching."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from arena.clock import MONOTONIC_CLOCK
from arena.server.metrics import GARBAGE_COLLECTOR_PAUSES

GC_GENERATION_0_THRESHOLD = 250
"""Threshold of generation 0: number of new objects at which the garbage collector runs to examine them.

A run takes about 1 µs per object and stalls all clients meanwhile: 1 to 6 ms with a threshold of 2,000, and 25 ms or
more with 50,000. Clients that reconnect all the time cause several runs per second.
"""
GC_GENERATION_1_THRESHOLD = 2
"""Threshold of generation 1: number of runs over generation 0 after which the next run also examines generation 1.

While clients connect all the time, a run over generation 0 takes 0.2 ms, and a run over both generations 0.6 ms. With
the thresholds 500 and 5, they would take 0.5 and 1.5 ms.
"""
GC_GENERATION_2_THRESHOLD = 1600
"""Threshold of generation 2: number of runs over generation 1 after which the next run examines all objects."""
THREAD_SWITCH_INTERVAL_SECONDS = 0.0005
"""Time after which the event loop must yield to the thread that stores moves, and vice versa, in seconds.

The thread may wait that long several times per commit, and all moves of the commit wait too. Python's default is 5 ms.
"""


@contextmanager
def tuned_interpreter() -> Iterator[None]:
    """Tune Python for a server during the `with` block: rare and short garbage collections, and quicker switches of threads.

    Moves create no cyclic garbage. With Python's defaults, a tenth of a busy server's CPU time goes into collections that
    find nothing, and with thousands of connections a full collection stalls the event loop for tens of milliseconds.
    So objects that already exist, such as modules, are exempt from collections. The metrics count each collection.
    """
    old_thresholds, old_interval = gc.get_threshold(), sys.getswitchinterval()
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_GENERATION_0_THRESHOLD, GC_GENERATION_1_THRESHOLD, GC_GENERATION_2_THRESHOLD)
    gc.callbacks.append(_measure_garbage_collection)
    sys.setswitchinterval(THREAD_SWITCH_INTERVAL_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(old_interval)
        gc.callbacks.remove(_measure_garbage_collection)
        gc.set_threshold(*old_thresholds)
        gc.unfreeze()


_garbage_collection_start_seconds = 0.0


def _measure_garbage_collection(collection_phase: str, _info: dict[str, int]) -> None:
    global _garbage_collection_start_seconds  # noqa: PLW0603  there is one collector
    if collection_phase == "start":
        _garbage_collection_start_seconds = MONOTONIC_CLOCK.now()
    else:
        GARBAGE_COLLECTOR_PAUSES.observe(MONOTONIC_CLOCK.now() - _garbage_collection_start_seconds)
