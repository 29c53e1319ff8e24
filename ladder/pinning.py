"""Cores for the bots of running matches: assign them to matches, and keep the bots' processes on them.

The two bots of a match think in turns, so they share the match's cores, unless there are enough for each
bot to have its own. With more than two cores, one is left to the server. With one or two, the server shares them
and has priority (server.processes.supervisor).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

PASSES = 8
"""Number of passes over the threads of a process; a later pass catches a thread that starts meanwhile."""


def cores_for_bots(every: list[int]) -> list[int]:
    """Return the cores for pinned bots. Of more than two cores the first is left to the server."""
    return every[1:] if len(every) > 2 else every


def can_pin() -> bool:
    """Return True if this system can pin processes to cores and list their threads."""
    return (
        hasattr(os, "sched_setaffinity")
        and Path("/proc/self/task").is_dir()
        and _children(os.getpid()) is not None
    )


class Pinning:
    """The cores of an event's running matches."""

    def __init__(self, cores: Sequence[int], most: int, process_of: Callable[[str], int | None]) -> None:
        """Create the pinning of bots to `cores`.

        most        maximum number of threads of all matches in play
        process_of  returns the process id of a bot by its connection's name; None if it has none
        """
        self._load = dict.fromkeys(cores, 0)
        self._apart = len(cores) >= 2 * most
        self._process_of = process_of

    @contextmanager
    def keep_on_cores(self, names: Sequence[str], threads: int) -> Iterator[None]:
        """Keep the named bots, which play a match, on cores for this many `threads`, for the duration of the block."""
        groups = [[name] for name in names] if self._apart else [list(names)]
        pinned = [(group, self._take(threads)) for group in groups]
        try:
            for group, mine in pinned:
                for name in group:
                    process = self._process_of(name)
                    if process is not None:
                        pin(process, mine)
            yield
        finally:
            for _, mine in pinned:
                for core in mine:
                    self._load[core] -= 1

    def _take(self, threads: int) -> frozenset[int]:
        """Return the least loaded cores, the lowest ones first among equals."""
        mine = frozenset(sorted(self._load, key=lambda core: (self._load[core], core))[:threads])
        for core in mine:
            self._load[core] += 1
        return mine


def pin(process: int, cores: frozenset[int]) -> None:
    """Keep all threads of a process and of its child processes on these cores permanently."""
    for _ in range(PASSES):
        pinned_any = False
        for thread in _threads(process):
            # The thread or the whole process may end at any time.
            with suppress(ProcessLookupError):
                if os.sched_getaffinity(thread) != cores:
                    os.sched_setaffinity(thread, cores)
                    pinned_any = True
        if not pinned_any:
            break


def _threads(process: int) -> list[int]:
    try:
        ids = [int(task.name) for task in Path(f"/proc/{process}/task").iterdir()]
    except FileNotFoundError:
        return []
    for child in _children(process) or ():
        ids += _threads(child)
    return ids


def _children(process: int) -> list[int] | None:
    """Return the child processes of a process; None if the system does not list them."""
    ids: list[int] = []
    complete = False
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{process}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                ids += map(int, (task / "children").read_text().split())
                complete = True
    return ids if complete else None
