"""Parallel calls of a function in several processes, with the results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from typing import Any, TypeVar

R = TypeVar("R")
Part = TypeVar("Part", bound=tuple[Any, ...])


def in_processes(
    function: Callable[..., R], parts: Iterable[Part], processes: int
) -> Generator[tuple[Part, R], None, None]:
    """Call `function(*part)` for each part, and yield each part with the result, in the order of `parts`.

    At most two parts per process are taken ahead. With `processes` = 1, the calls are made in the current process. Close
    the generator to cancel the remaining calls.
    """
    if processes == 1:
        for part in parts:
            yield part, function(*part)
        return
    tasks = iter(parts)
    # Spawned, not forked, because the caller has threads, such as that of a progress bar.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting: deque[tuple[Part, Future[R]]] = deque()
        try:
            while True:
                for part in islice(tasks, 2 * processes - len(waiting)):
                    waiting.append((part, pool.submit(function, *part)))
                if not waiting:
                    return
                part, future = waiting.popleft()
                yield part, future.result()
        finally:
            pool.shutdown(cancel_futures=True)
