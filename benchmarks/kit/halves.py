"""The cores of this machine, one half for a server and the other for its load, where there are enough of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

APART = 4
"""Cores from which on the server and the load are kept apart."""


def server_cores() -> set[int]:
    """The cores that a server under load has."""
    return _halves()[0]


def load_cores() -> set[int]:
    """The cores that the load has."""
    return _halves()[1]


@contextmanager
def on_cores(cores: set[int]) -> Iterator[None]:
    """What is started in the block has these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _halves() -> tuple[set[int], set[int]]:
    mine = sorted(os.sched_getaffinity(0))
    if len(mine) < APART:
        return set(mine), set(mine)
    half = len(mine) // 2
    return set(mine[:half]), set(mine[half:])
