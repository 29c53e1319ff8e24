"""A thread that does one job after another, each for a task that waits for it.

A pool's thread is handed a job by a lock, a semaphore and two futures, which a server with few matches pays for each of
its moves; this one by a queue and one future.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Self, TypeVar

import anyio

T = TypeVar("T")


class Worker:
    """One thread, from the block's beginning to its end; `do` is called by tasks of one event loop."""

    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._under_way = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    @property
    def busy(self) -> bool:
        """Whether it has a job, or the end of one is not told yet."""
        return self._under_way > 0

    async def do(self, call: Callable[[], T]) -> T:
        """What `call` returns or raises in the thread, after all that it was given before.

        It is not cancelled half-way: the task waits for its end also where it is cancelled.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def job() -> None:
            try:
                result = call()
            except BaseException as error:  # noqa: BLE001  it is raised where it was asked for
                loop.call_soon_threadsafe(self._fail, done, error)
            else:
                loop.call_soon_threadsafe(self._end, done, result)

        self._jobs.put(job)
        self._under_way += 1
        with anyio.CancelScope(shield=True):
            await done
        return done.result()

    def _end(self, done: asyncio.Future[T], result: T) -> None:
        self._under_way -= 1
        if not done.cancelled():
            done.set_result(result)

    def _fail(self, done: asyncio.Future[T], error: BaseException) -> None:
        self._under_way -= 1
        if not done.cancelled():
            done.set_exception(error)
