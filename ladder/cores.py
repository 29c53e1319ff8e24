"""Cores for the bots of running matches: which a match gets, and keeping its processes on them.

The two bots of a match think in turns, so they share the match's cores, unless there are enough for each
bot to have its own. With more than two cores one is left to the server; with one or two it shares them,
and goes first (server.processes.supervisor).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

PASSES = 8
"""How often the threads of a process are gone through: one that begins meanwhile is caught by the next pass."""


def cores_for_bots(every: list[int]) -> list[int]:
    """The cores that pinned bots get, of all: the server has the first where there are more than two."""
    return every[1:] if len(every) > 2 else every


def can_pin() -> bool:
    """Whether this system lets processes be kept on cores, and tells which threads they have."""
    return (
        hasattr(os, "sched_setaffinity")
        and Path("/proc/self/task").is_dir()
        and _children(os.getpid()) is not None
    )


class Pinning:
    """The cores of an event's running matches."""

    def __init__(self, cores: Sequence[int], most: int, process_of: Callable[[str], int | None]) -> None:
        """most        what the matches in play may weigh together, in threads
        process_of  the process of a bot, by the name under which it is connected; None if it has none
        """
        self._load = dict.fromkeys(cores, 0)
        self._apart = len(cores) >= 2 * most
        self._process_of = process_of

    @contextmanager
    def held(self, names: Sequence[str], threads: int) -> Iterator[None]:
        """Keep the bots of these names, which play a match, on cores for so many threads."""
        groups = [[name] for name in names] if self._apart else [list(names)]
        taken = [(group, self._take(threads)) for group in groups]
        try:
            for group, mine in taken:
                for name in group:
                    process = self._process_of(name)
                    if process is not None:
                        pin(process, mine)
            yield
        finally:
            for _, mine in taken:
                for core in mine:
                    self._load[core] -= 1

    def _take(self, threads: int) -> frozenset[int]:
        """The least loaded cores, the first of those that are equal."""
        mine = frozenset(sorted(self._load, key=lambda core: (self._load[core], core))[:threads])
        for core in mine:
            self._load[core] += 1
        return mine


def pin(process: int, cores: frozenset[int]) -> None:
    """Keep every thread of a process and of those that it started on these cores, as long as they live."""
    for _ in range(PASSES):
        moved = False
        for thread in _threads(process):
            # A thread, or all of the process, may end at any time.
            with suppress(ProcessLookupError):
                if os.sched_getaffinity(thread) != cores:
                    os.sched_setaffinity(thread, cores)
                    moved = True
        if not moved:
            break


def _threads(process: int) -> list[int]:
    try:
        found = [int(task.name) for task in Path(f"/proc/{process}/task").iterdir()]
    except FileNotFoundError:
        return []
    for child in _children(process) or ():
        found += _threads(child)
    return found


def _children(process: int) -> list[int] | None:
    """The processes that a process started; None where the system does not tell."""
    found: list[int] = []
    told = False
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{process}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                found += map(int, (task / "children").read_text().split())
                told = True
    return found if told else None
