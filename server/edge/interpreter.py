"""Python's settings for a server: its garbage collector for cycles, and the switching between its threads."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from arena.clock import MONOTONIC
from arena.server.metrics import COLLECTOR_SECONDS

YOUNG = 2_000
"""Number of new objects that are still alive before the collector runs.

Python's default of 700 leads to a run every few moves. A run takes about a microsecond per object and stalls all
clients meanwhile: with a limit of 50,000, for 25 ms and more.
"""
MIDDLE = 5
"""Number of runs over young objects before the surviving objects are examined again. A closed connection leaves cycles of
tens of objects behind.
"""
OLD = 100
"""Number of runs over middle-aged objects before all objects are examined."""
SWITCH_SECONDS = 0.0005
"""Switch interval between the event loop and the journal's writer thread. Python's default is 5 ms. The writer may have
to wait for that several times per commit, and all moves of the commit wait with it.
"""


@contextmanager
def infrequent_collections() -> Iterator[None]:
    """Collect cycles rarely during the block, and never among the objects that exist now, such as modules.

    The garbage of a move contains no cycles. With Python's defaults, a tenth of a busy server's CPU time goes into runs
    that find nothing, and with thousands of connections a full run stalls the event loop for tens of milliseconds. Threads
    switch every `SWITCH_SECONDS`. The metrics count each run.
    """
    usual, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    gc.callbacks.append(_count)
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        gc.callbacks.remove(_count)
        gc.set_threshold(*usual)
        gc.unfreeze()


_began = 0.0


def _count(phase: str, _info: dict[str, int]) -> None:
    global _began  # noqa: PLW0603  there is one collector
    if phase == "start":
        _began = MONOTONIC.now()
    else:
        COLLECTOR_SECONDS.observe(MONOTONIC.now() - _began)
