"""Python's collector of cycles, set for a server: what a move leaves behind holds no cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG = 5_000
"""Objects made and still held before the collector looks at them: a look takes a few milliseconds, in which nobody
is answered. Python's 700 is a look every few moves; 50,000 held everything up for 25 ms and more."""
OLDER = 20
"""Looks at a generation before the next older one is looked at too."""


@contextmanager
def settled() -> Iterator[None]:
    """For the block, leave out of all looks what exists now, modules above all, and look seldom.

    Without it a tenth of the CPU time of a busy server goes into looks that find nothing, and with
    thousands of connections a look at everything holds the event loop up for tens of milliseconds.
    """
    usual = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, OLDER, OLDER)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()
