"""Parallel calls of a function in several processes, with the results in order."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, TypeVar

R = TypeVar("R")
Arguments = TypeVar("Arguments", bound=tuple[Any, ...])


class ProcessKilled(Exception):
    """Raised if a worker process ends without a result, for example because the system has no more memory."""


def map_in_processes(
    function: Callable[..., R], argument_tuples: Iterable[Arguments], process_count: int
) -> Generator[tuple[Arguments, R], None, None]:
    """Call `function(*arguments)` for each tuple of arguments, and yield each tuple with the result, in the same order.

    If `process_count` is 1, the calls are made in the current process. Otherwise, the generator reads at most two tuples
    per process ahead of the results, and Ctrl-C ends the worker processes without an error message. These processes also
    end if the current process is killed. Close the generator to cancel the remaining calls.

    Raises ProcessKilled if one of the worker processes is killed.
    """
    if process_count == 1:
        for arguments in argument_tuples:
            yield arguments, function(*arguments)
        return
    tasks = iter(argument_tuples)
    # Spawned, not forked, because the caller has threads, such as that of a progress bar.
    with ProcessPoolExecutor(process_count, get_context("spawn"), _prepare_worker_process) as pool:
        pending: deque[tuple[Arguments, Future[R]]] = deque()
        try:
            while True:
                for arguments in islice(tasks, 2 * process_count - len(pending)):
                    pending.append((arguments, pool.submit(function, *arguments)))
                if not pending:
                    return
                arguments, future = pending.popleft()
                try:
                    result = future.result()
                except BrokenProcessPool:
                    raise ProcessKilled(
                        "a worker process was killed, perhaps because the memory is full: give fewer --processes"
                    ) from None
                yield arguments, result
        finally:
            pool.shutdown(cancel_futures=True)


def _prepare_worker_process() -> None:
    """Let the worker process end on Ctrl-C without an error message, and end it with its parent process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)
