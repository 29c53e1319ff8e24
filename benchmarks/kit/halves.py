"""Division of this machine's cores: if there are enough, one half for a server, and the other for its load."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

MIN_CORES_TO_SPLIT = 4
"""Number of cores from which on the server and its load are kept apart."""


def server_cores() -> set[int]:
    """Return the cores for a server under load."""
    return _split_cores()[0]


def load_cores() -> set[int]:
    """Return the cores for the load."""
    return _split_cores()[1]


@contextmanager
def pin_to_cores(cores: set[int]) -> Iterator[None]:
    """Pin all processes started in the block to these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _split_cores() -> tuple[set[int], set[int]]:
    mine = sorted(os.sched_getaffinity(0))
    if len(mine) < MIN_CORES_TO_SPLIT:
        return set(mine), set(mine)
    half = len(mine) // 2
    return set(mine[:half]), set(mine[half:])
