"""The thread pool: nested tasks with any number of threads, and errors."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from arena.bots.search.thread_pool import ThreadPool


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
def test_work_that_splits_at_every_level(threads: int) -> None:
    """There are 3^6 tasks, and each level waits for the one below, so far more tasks wait than there are threads."""

    def count(depth: int) -> int:
        return 1 if depth == 0 else sum(pool.map(count, [depth - 1] * 3))

    with ThreadPool(threads) as pool:
        assert count(6) == 3**6


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_results_come_in_order(threads: int) -> None:
    with ThreadPool(threads) as pool:
        assert pool.map(lambda n: n * n, list(range(50))) == [n * n for n in range(50)]
        assert pool.map(lambda n: n, []) == []


def test_threads_work_at_once() -> None:
    """Two tasks wait for each other, so they end only if two threads run them at the same time."""
    both = threading.Barrier(2, timeout=500)
    with ThreadPool(2) as pool:
        assert sorted(pool.map(lambda _: both.wait(), [0, 1])) == [0, 1]


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_first_error_is_raised_when_all_have_ended(threads: int) -> None:
    running = 0
    lock = threading.Lock()

    def work(n: int) -> int:
        nonlocal running
        with lock:
            running += 1
        try:
            if n in (3, 5):
                raise LookupError(n)
            return n
        finally:
            with lock:
                running -= 1

    with ThreadPool(threads) as pool:
        for _ in range(20):
            with pytest.raises(LookupError, match="3"):
                pool.map(work, list(range(8)))
            assert running == 0
        assert pool.map(work, [1, 2]) == [1, 2]


def test_several_threads_may_wait_on_one_pool() -> None:
    def count(depth: int) -> int:
        return 1 if depth == 0 else sum(pool.map(count, [depth - 1] * 2))

    with ThreadPool(3) as pool, ThreadPoolExecutor(4) as outside:
        assert list(outside.map(count, [7] * 4)) == [2**7] * 4


def test_closing_ends_its_threads() -> None:
    before = threading.active_count()
    pool = ThreadPool(4)
    assert threading.active_count() == before + 3
    pool.close()
    assert threading.active_count() == before
    with pytest.raises(ValueError, match="at least 1 thread"):
        ThreadPool(0)
