from __future__ import annotations

import asyncio
import threading

import anyio
import pytest

from arena.server.store.journal.thread import Worker


async def test_jobs_are_done_in_order_in_one_thread_of_their_own() -> None:
    done: list[tuple[int, str]] = []

    def job(number: int) -> int:
        done.append((number, threading.current_thread().name))
        return number * number

    with Worker("a-worker") as worker:
        results = await asyncio.gather(*(worker.do(lambda number=n: job(number)) for n in range(20)))  # type: ignore[misc]
    assert results == [n * n for n in range(20)]
    assert done == [(n, "a-worker") for n in range(20)]
    assert "a-worker" not in {each.name for each in threading.enumerate()}


async def test_what_a_job_raises_is_raised_where_it_was_asked_for_and_the_next_one_is_done() -> None:
    def fails() -> int:
        raise ValueError("no")

    with Worker("a-worker") as worker:
        with pytest.raises(ValueError, match="no"):
            await worker.do(fails)
        assert await worker.do(lambda: 7) == 7


async def test_a_task_that_is_cancelled_waits_for_the_end_of_its_job() -> None:
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def job() -> None:
        begun.set()
        assert may_end.wait(10)
        ended.set()

    with Worker("a-worker") as worker:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.do, job)
            while not begun.is_set():
                await anyio.sleep(0.001)
            tasks.cancel_scope.cancel()
            asyncio.get_running_loop().call_later(0.02, may_end.set)
        assert ended.is_set()


async def test_a_task_that_asyncio_itself_cancels_leaves_the_worker_usable() -> None:
    may_end = threading.Event()
    with Worker("a-worker") as worker:
        task = asyncio.create_task(worker.do(lambda: may_end.wait(10)))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert worker.busy
        may_end.set()
        assert await worker.do(lambda: 7) == 7
        assert not worker.busy
