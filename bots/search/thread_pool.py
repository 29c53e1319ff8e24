"""Thread pool for tasks that split into further tasks, at any depth, with any number of threads.

A thread that waits for its subtasks first runs the subtasks that no thread has started, and only then sleeps until the
other subtasks are done. So a sleeping thread waits only for tasks below its own in the tree of tasks, and threads never
wait for each other in a cycle. The pool therefore cannot deadlock, even if all threads wait, or if there is only one.
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
    """Function for the pool to call: first queued, then started by one thread, then done, with a result or an error."""

    __slots__ = ("_function", "error", "has_begun", "is_done", "result")

    def __init__(self, function: Callable[[], R]) -> None:
        self._function = function
        self.has_begun = False
        self.is_done = False
        self.error: BaseException | None = None
        self.result: R | None = None

    def run(self) -> None:
        """Call the function in the calling thread. Store the result, or the error, for the thread that waits for it."""
        try:
            self.result = self._function()
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
            self.error = error


class ThreadPool:
    """Pool in which `thread_count` threads work in parallel, including the thread that waits for the results.

    Close the pool, or use it in a `with` statement. If one of several tasks raises an error (such as SearchStopped), the
    results of the other tasks are not needed. `map` then cancels these tasks. The caller of
    `submit` has to cancel such tasks (`cancel_and_wait`).
    """

    def __init__(self, thread_count: int) -> None:
        if thread_count < 1:
            raise ValueError(f"a pool must have at least 1 thread, not {thread_count}")
        self.thread_count = thread_count
        self._lock = threading.Lock()
        self._task_queued = threading.Condition(self._lock)
        self._task_finished = threading.Condition(self._lock)
        self._queue: deque[Task[Any]] = deque()
        self._closed = False
        self._workers = [
            threading.Thread(target=self._run_tasks, name=f"search-{n}", daemon=True)
            for n in range(1, thread_count)
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
        """End the pool's threads, each after its current task."""
        with self._lock:
            self._closed = True
            self._task_queued.notify_all()
        for worker in self._workers:
            worker.join()

    def submit(self, function: Callable[[], R]) -> Task[R]:
        """Queue `function` for the next free thread, and return the task."""
        task = Task(function)
        with self._lock:
            self._queue.append(task)
            self._task_queued.notify()
        return task

    def wait_for_result(self, task: Task[R]) -> R:
        """Wait until the task is done, and return its result or raise its error.

        If no thread has started the task, the calling thread runs it.
        """
        if self._claim_task(task):
            self._execute_task(task)
        else:
            self._wait_for(task)
        if task.error is not None:
            raise task.error
        return cast("R", task.result)

    def cancel_and_wait(self, tasks: Iterable[Task[Any]]) -> None:
        """Drop the tasks that no thread has started, and wait for the end of the other tasks. A dropped task has no result."""
        for task in tasks:
            if not self._claim_task(task):
                self._wait_for(task)

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Return the function's results in the order of `items`, computed in parallel.

        If calls raise errors, cancel the tasks that are not done, and raise the first error in the order of `items`.
        """
        tasks = [self.submit(partial(function, item)) for item in items]
        try:
            return [self.wait_for_result(task) for task in tasks]
        finally:
            self.cancel_and_wait(task for task in tasks if not task.is_done)

    def _wait_for(self, task: Task[Any]) -> None:
        with self._lock:
            self._task_finished.wait_for(lambda: task.is_done)

    def _claim_task(self, task: Task[Any]) -> bool:
        with self._lock:
            if task.has_begun:
                return False
            task.has_begun = True
            self._queue.remove(task)
            return True

    def _execute_task(self, task: Task[Any]) -> None:
        task.run()
        with self._lock:
            task.is_done = True
            self._task_finished.notify_all()

    def _run_tasks(self) -> None:
        while True:
            with self._lock:
                self._task_queued.wait_for(lambda: self._queue or self._closed)
                if self._closed:
                    return
                # the oldest task is nearest to the root, and therefore the largest
                task = self._queue.popleft()
                task.has_begun = True
            self._execute_task(task)
