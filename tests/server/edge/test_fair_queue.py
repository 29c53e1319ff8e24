"""The fair queue: addresses take turns, and all slices together use a limited share of the time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from arena.clock import TimeSource
from arena.server.edge.fair_queue import MAX_TIME_SHARE_OF_QUEUED_WORK, MAX_WORK_SLICE_DELAY_NS, FairQueue
from testkit.virtual_time import VIRTUAL_CLOCK
from tests.virtual import virtual


class Work:
    """Waiter that records the time of each of its slices. The waiter named `fails` raises an exception."""

    def __init__(self, name: str, slices: list[tuple[str, float]], cost: float = 1000.0) -> None:
        self.name = name
        self._slices = slices
        self._cost = cost

    def __call__(self) -> float:
        self._slices.append((self.name, asyncio.get_running_loop().time()))
        if self.name == "fails":
            raise ValueError(self.name)
        return self._cost


@virtual
async def test_addresses_take_turns_with_a_pause_after_each_slice() -> None:
    queue, slices = FairQueue(VIRTUAL_CLOCK, lambda: False), list[tuple[str, float]]()
    for name in ("a1", "a2", "a3", "b1", "c1"):
        queue.enqueue(name[0], Work(name, slices))
    start_time = asyncio.get_running_loop().time()
    await asyncio.sleep(1)
    assert [name for name, _ in slices] == ["a1", "b1", "c1", "a2", "a3"]
    rest = 0.001 / MAX_TIME_SHARE_OF_QUEUED_WORK
    for number, (_, at) in enumerate(slices):
        assert abs(at - start_time - number * rest) < 1e-6
    queue.enqueue("a", Work("later", slices))
    await asyncio.sleep(0)
    await asyncio.sleep(0.001)
    assert slices[-1][0] == "later", "after a pause, a new waiter is served immediately"


@virtual
async def test_slices_are_delayed_while_moves_are_stored_up_to_a_limit() -> None:
    time = asyncio.get_running_loop().time
    start_time = time()
    storing = [(0.0, 0.0015), (0.5, 1.0)]
    queue = FairQueue(
        VIRTUAL_CLOCK, lambda: any(start <= time() - start_time < end for start, end in storing)
    )
    slices = list[tuple[str, float]]()
    queue.enqueue("a", Work("waits", slices))
    await asyncio.sleep(0.5)
    for name in ("not for long", "each time"):
        queue.enqueue("a", Work(name, slices))
    await asyncio.sleep(0.1)
    longest = MAX_WORK_SLICE_DELAY_NS / 1e9
    expected = [0.002, 0.5 + longest, 0.5 + longest + 0.001 / MAX_TIME_SHARE_OF_QUEUED_WORK + longest]
    assert [at - start_time for _, at in slices] == pytest.approx(expected)


@virtual
async def test_a_failing_waiter_does_not_stop_the_queue() -> None:
    queue, slices = FairQueue(VIRTUAL_CLOCK, lambda: False), list[tuple[str, float]]()
    failures: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context["exception"]))
    for name in ("fails", "goes"):
        queue.enqueue(name, Work(name, slices))
    await asyncio.sleep(1)
    assert [name for name, _ in slices] == ["fails", "goes"]
    assert len(failures) == 1


class EarlyClock(TimeSource):
    """Clock whose timers are up to a millisecond early, as in an event loop that rounds down to milliseconds."""

    def call_later(self, seconds: float, call: Callable[..., object], *arguments: Any) -> asyncio.TimerHandle:
        return super().call_later(int(1000 * seconds) / 1000, call, *arguments)


@virtual
async def test_pauses_have_the_right_mean_length_with_early_timers() -> None:
    queue, slices = (
        FairQueue(EarlyClock(VIRTUAL_CLOCK.now_ns, VIRTUAL_CLOCK.cpu_time_ns), lambda: False),
        list[tuple[str, float]](),
    )
    for number in range(101):
        queue.enqueue("a", Work(str(number), slices, cost=0.9 * 2_000 * MAX_TIME_SHARE_OF_QUEUED_WORK))
    await asyncio.sleep(1)
    lasted = slices[-1][1] - slices[0][1]
    assert abs(lasted - 100 * 0.9 * 0.002) < 0.002
