"""Pinning of bots to CPU cores: each running match gets some cores, and the processes of its bots run only there.

The two bots of a match search in turns, so they share the cores of the match, unless there are enough cores for each bot
to have its own. On a machine with more than two cores, one core is left to the server. On a smaller machine, the server
shares the cores with the bots, and has priority over them (processes.supervisor).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

MAX_PINNING_PASSES = 8
"""Maximum number of passes over the threads of a process. Each pass pins the threads that started during the previous one."""


def choose_cores_for_bots(all_cores: list[int]) -> list[int]:
    """Return the CPU cores for pinned bots: all but the first, which is the server's. Of one or two cores, return all."""
    return all_cores[1:] if len(all_cores) > 2 else all_cores


def can_pin_processes() -> bool:
    """Return True if this system can pin processes to CPU cores, and lists the threads and child processes of a process."""
    return (
        hasattr(os, "sched_setaffinity")
        and Path("/proc/self/task").is_dir()
        and _list_child_process_ids(os.getpid()) is not None
    )


class CorePinning:
    """Assignment of CPU cores to the running matches of a ladder."""

    def __init__(
        self, cores: Sequence[int], max_running_threads: int, find_process_id: Callable[[str], int | None]
    ) -> None:
        """Prepare to pin bots to CPU cores. `cores` are their numbers.

        max_running_threads  maximum total number of threads of the matches that run at the same time
        find_process_id      function that returns the id of the bot process connected under a name; None if there is none
        """
        self._assignment_count_by_core = dict.fromkeys(cores, 0)
        self._has_cores_for_each_bot = len(cores) >= 2 * max_running_threads
        self._find_process_id = find_process_id

    @contextmanager
    def pin_bots_during_match(self, connection_names: Sequence[str], threads_per_bot: int) -> Iterator[None]:
        """Pin the bots of a match to CPU cores for the duration of the `with` block.

        connection_names  names under which the bots are connected
        threads_per_bot   number of cores to assign: to each bot if there are enough cores, otherwise to both bots together
        """
        groups = (
            [[name] for name in connection_names]
            if self._has_cores_for_each_bot
            else [list(connection_names)]
        )
        assignments = [(group, self._assign_cores(threads_per_bot)) for group in groups]
        try:
            for group, cores in assignments:
                for name in group:
                    process_id = self._find_process_id(name)
                    if process_id is not None:
                        pin_process(process_id, cores)
            yield
        finally:
            for _, cores in assignments:
                for core in cores:
                    self._assignment_count_by_core[core] -= 1

    def _assign_cores(self, thread_count: int) -> frozenset[int]:
        """Assign and return the `thread_count` least loaded CPU cores; of equally loaded ones, the lowest numbers."""
        cores = frozenset(
            sorted(
                self._assignment_count_by_core, key=lambda core: (self._assignment_count_by_core[core], core)
            )[:thread_count]
        )
        for core in cores:
            self._assignment_count_by_core[core] += 1
        return cores


def pin_process(process_id: int, cores: frozenset[int]) -> None:
    """Pin all threads of a process, and of its child processes, to the CPU cores with these numbers."""
    for _ in range(MAX_PINNING_PASSES):
        has_pinned_any = False
        for thread in _list_thread_ids(process_id):
            # The thread or the whole process may end at any time.
            with suppress(ProcessLookupError):
                if os.sched_getaffinity(thread) != cores:
                    os.sched_setaffinity(thread, cores)
                    has_pinned_any = True
        if not has_pinned_any:
            break


def _list_thread_ids(process_id: int) -> list[int]:
    try:
        ids = [int(task.name) for task in Path(f"/proc/{process_id}/task").iterdir()]
    except FileNotFoundError:
        return []
    for child in _list_child_process_ids(process_id) or ():
        ids += _list_thread_ids(child)
    return ids


def _list_child_process_ids(process_id: int) -> list[int] | None:
    """Return the ids of a process's child processes; None if the system does not list them."""
    ids: list[int] = []
    is_complete = False
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{process_id}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                ids += map(int, (task / "children").read_text().split())
                is_complete = True
    return ids if is_complete else None
