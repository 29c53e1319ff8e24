"""Keeps Python's garbage collector out of the time in which a bot thinks.

A transposition table is hundreds of thousands of objects, and a full collection walks all of them with
the interpreter's lock held: long enough to lose a match on time. Positions and entries are never in
cycles, so counting references frees them, and the walk would find nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()
_thinking = 0
_set_aside = False
"""Whether what thinking left was set aside since it was last collected."""


@contextmanager
def quiet() -> Iterator[None]:
    """No collection while anybody is in here; what they leave behind is never walked again."""
    global _thinking, _set_aside  # noqa: PLW0603  the collector is one for the process, and so are these
    with _lock:
        _thinking += 1
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _thinking -= 1
            if not _thinking:
                gc.freeze()
                _set_aside = True
                gc.enable()


def tidy() -> None:
    """Between matches, when nobody thinks: collect also what `quiet` had set aside."""
    global _set_aside  # noqa: PLW0603  one for the process, as the collector
    with _lock:
        if _set_aside and not _thinking:
            gc.unfreeze()
            gc.collect()
            _set_aside = False
