"""The loop watch: what it remembers of the loop's delays, and that it sees a real one."""

from __future__ import annotations

import time

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.match.clock import MS
from arena.server.net.loop_watch import WORTH_NOTING, LoopWatch


def test_the_longest_delay_since_a_time_is_told() -> None:
    told: list[float] = []
    watch = LoopWatch(told.append)
    watch._due = 1000 * MS
    watch.note(100 * MS, 180 * MS)
    watch.note(200 * MS, 230 * MS)
    assert watch.late_since(0, 300 * MS) == 80 * MS
    assert watch.late_since(181 * MS, 300 * MS) == 30 * MS
    assert watch.late_since(231 * MS, 300 * MS) <= 0, "the next wake is not even due"
    assert told == pytest.approx([0.08, 0.03])


def test_a_delay_still_under_way_counts() -> None:
    watch = LoopWatch()
    watch._due = 500 * MS
    assert watch.late_since(400 * MS, 700 * MS) == 200 * MS


@given(st.lists(st.integers(0, 100 * MS), max_size=30), st.integers(0, 30))
def test_nothing_worth_noting_is_missed(lates: list[int], since: int) -> None:
    watch, now = LoopWatch(), 0
    watch._due = 10**18
    at = []
    for late in lates:
        now += 200 * MS
        watch.note(now - late, now)
        at.append(now)
    begin = since * 200 * MS
    worst = max((late for late, when in zip(lates, at, strict=True) if when >= begin), default=0)
    assert watch.late_since(begin, now) == (worst if worst >= WORTH_NOTING else 0)


async def test_a_loop_that_is_held_up_is_seen() -> None:
    watch = LoopWatch()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch.run)
        await anyio.sleep(0.02)
        since = time.monotonic_ns()
        time.sleep(0.15)  # noqa: ASYNC251  what a blocking call does
        assert watch.late_since(since, time.monotonic_ns()) >= 100 * MS, "while it lasts"
        await anyio.sleep(0.02)
        assert watch.late_since(since, time.monotonic_ns()) >= 100 * MS, "and afterwards"
        tasks.cancel_scope.cancel()
