"""Python's collector of cycles, set for a server: what a move leaves behind holds no cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG = 2_000
"""Objects made and still held before the collector looks at them; Python's 700 is a look every few moves. A look takes
about a microsecond for each object, and meanwhile nobody is answered: 50,000 held everything up for 25 ms and more."""
MIDDLE = 5
"""Looks at the young before those that are left of them are looked at once more: what a connection that has ended
leaves behind holds cycles, tens of objects for each."""
OLD = 100
"""Looks at the middle ones before everything is looked at."""


@contextmanager
def settled() -> Iterator[None]:
    """For the block, leave out of all looks what exists now, modules above all, and look seldom.

    Without it a tenth of the CPU time of a busy server goes into looks that find nothing, and with
    thousands of connections a look at everything holds the event loop up for tens of milliseconds.
    """
    usual = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()
