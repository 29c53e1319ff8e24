"""Python itself, set for a server: its collector of cycles, and how its threads take turns."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG = 2_000
"""Objects made and still held before the collector looks at them; Python's 700 is a look every few moves. A look takes
about a microsecond for each object, and meanwhile nobody is answered: 50,000 held everything up for 25 ms and more."""
MIDDLE = 5
"""Looks at young objects before those that are left of them are looked at once more: what a connection that has ended
leaves behind holds cycles, tens of objects for each."""
OLD = 100
"""Looks at objects of middle age before all objects are looked at."""
SWITCH_SECONDS = 0.0005
"""How long the event loop may keep the interpreter from the thread that writes the journal; Python's own is 5 ms,
which that thread may have to wait for several times a commit, and all moves of the commit with it."""


@contextmanager
def settled() -> Iterator[None]:
    """For the block, leave out of all looks for cycles what exists now, modules above all, and look seldom.

    What a move leaves behind holds no cycles. Without this a tenth of the CPU time of a busy server goes into
    looks that find nothing, and with thousands of connections a look at everything holds the event loop up for
    tens of milliseconds. Its threads take turns every `SWITCH_SECONDS`.
    """
    usual, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*usual)
        gc.unfreeze()
