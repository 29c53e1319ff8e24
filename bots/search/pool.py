"""A pool of threads for work that splits again and again, at any depth and any pool size.

A thread that waits for its parts first runs those that nobody has begun, and only then sleeps until
the others are done. So a part that sleeps waits only for parts below it in the tree, never in a
ring, and the pool cannot deadlock, not even when all its threads wait, and not when it has only one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")


class Task(Generic[R]):
    """A piece of work: queued, then begun by one thread, then done with a result or an error."""

    __slots__ = ("_work", "begun", "done", "error", "result")

    def __init__(self, work: Callable[[], R]) -> None:
        self._work = work
        self.begun = False
        self.done = False
        self.error: BaseException | None = None
        self.result: R | None = None

    def run(self) -> None:
        """Do the work, in the thread that has begun it. An error is kept for who waits."""
        try:
            self.result = self._work()
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
            self.error = error


class Pool:
    """`threads` threads that work at once: the one that waits and threads - 1 of the pool's own.

    Close it, or use it in a `with`. A search may leave by an error (a stop); its tasks are then
    withdrawn or finished before the error is passed on, so no thread works on for nobody.
    """

    def __init__(self, threads: int) -> None:
        if threads < 1:
            raise ValueError(f"a pool has at least 1 thread, not {threads}")
        self.threads = threads
        self._lock = threading.Lock()
        self._queued = threading.Condition(self._lock)
        self._finished = threading.Condition(self._lock)
        self._queue: deque[Task[Any]] = deque()
        self._closed = False
        self._workers = [
            threading.Thread(target=self._work, name=f"search-{n}", daemon=True) for n in range(1, threads)
        ]
        for worker in self._workers:
            worker.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the pool's threads, each after the task it is in."""
        with self._lock:
            self._closed = True
            self._queued.notify_all()
        for worker in self._workers:
            worker.join()

    def submit(self, work: Callable[[], R]) -> Task[R]:
        """Queue `work` for the first thread that is free."""
        task = Task(work)
        with self._lock:
            self._queue.append(task)
            self._queued.notify()
        return task

    def result(self, task: Task[R]) -> R:
        """The task's result when it is done, or its error raised; it is run here if nobody has begun it."""
        if self._begin(task):
            self._run(task)
        else:
            self._await(task)
        if task.error is not None:
            raise task.error
        return cast("R", task.result)

    def withdraw(self, tasks: Iterable[Task[Any]]) -> None:
        """Drop the tasks that nobody has begun (they end without a result), and wait for the others."""
        for task in tasks:
            if not self._begin(task):
                self._await(task)

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """The function's results in the order of the items, computed in parallel.

        The first error in that order is raised, after the rest was withdrawn.
        """
        tasks = [self.submit(partial(function, item)) for item in items]
        try:
            return [self.result(task) for task in tasks]
        finally:
            self.withdraw(task for task in tasks if not task.done)

    def _await(self, task: Task[Any]) -> None:
        with self._lock:
            self._finished.wait_for(lambda: task.done)

    def _begin(self, task: Task[Any]) -> bool:
        with self._lock:
            if task.begun:
                return False
            task.begun = True
            self._queue.remove(task)
            return True

    def _run(self, task: Task[Any]) -> None:
        task.run()
        with self._lock:
            task.done = True
            self._finished.notify_all()

    def _work(self) -> None:
        while True:
            with self._lock:
                self._queued.wait_for(lambda: self._queue or self._closed)
                if self._closed:
                    return
                # the oldest task is the one nearest to the root, and so the biggest
                task = self._queue.popleft()
                task.begun = True
            self._run(task)
