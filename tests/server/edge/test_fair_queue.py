"""The fair queue: addresses are served in rotation, and all together take no more than their share of the time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from arena.clock import TimeSource
from arena.server.edge.fair_queue import MAX_DELAY_NS, MAX_TIME_SHARE, FairQueue
from testkit.virtual_time import CLOCK
from tests.virtual import virtual


class Work:
    """A waiter that notes when it was served."""

    def __init__(self, name: str, slices: list[tuple[str, float]], cost: float = 1000.0) -> None:
        self.name = name
        self._slices = slices
        self._cost = cost

    def run_slice(self) -> float:
        self._slices.append((self.name, asyncio.get_running_loop().time()))
        if self.name == "fails":
            raise ValueError(self.name)
        return self._cost


@virtual
async def test_addresses_run_slices_and_each_slice_is_followed_by_a_rest() -> None:
    queue, slices = FairQueue(CLOCK), list[tuple[str, float]]()
    for name in ("a1", "a2", "a3", "b1", "c1"):
        queue.enqueue(name[0], Work(name, slices))
    began = asyncio.get_running_loop().time()
    await asyncio.sleep(1)
    assert [name for name, _ in slices] == ["a1", "b1", "c1", "a2", "a3"]
    rest = 0.001 / MAX_TIME_SHARE
    for number, (_, at) in enumerate(slices):
        assert abs(at - began - number * rest) < 1e-6
    queue.enqueue("a", Work("later", slices))
    await asyncio.sleep(0)
    await asyncio.sleep(0.001)
    assert slices[-1][0] == "later", "after a rest it goes at once"


@virtual
async def test_no_slice_begins_while_moves_are_stored_unless_that_lasts() -> None:
    time = asyncio.get_running_loop().time
    began = time()
    storing = [(0.0, 0.0015), (0.5, 1.0)]
    queue = FairQueue(CLOCK, lambda: any(start <= time() - began < end for start, end in storing))
    slices = list[tuple[str, float]]()
    queue.enqueue("a", Work("waits", slices))
    await asyncio.sleep(0.5)
    for name in ("not for long", "each time"):
        queue.enqueue("a", Work(name, slices))
    await asyncio.sleep(0.1)
    longest = MAX_DELAY_NS / 1e9
    expected = [0.002, 0.5 + longest, 0.5 + longest + 0.001 / MAX_TIME_SHARE + longest]
    assert [at - began for _, at in slices] == pytest.approx(expected)


@virtual
async def test_a_waiter_that_fails_holds_nobody_up() -> None:
    queue, slices = FairQueue(CLOCK), list[tuple[str, float]]()
    failures: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context["exception"]))
    for name in ("fails", "goes"):
        queue.enqueue(name, Work(name, slices))
    await asyncio.sleep(1)
    assert [name for name, _ in slices] == ["fails", "goes"]
    assert len(failures) == 1


class Coarse(TimeSource):
    """A clock whose timers are early, as those of a loop that rounds to milliseconds."""

    def call_later(self, seconds: float, call: Callable[..., object], *arguments: Any) -> asyncio.TimerHandle:
        return super().call_later(int(1000 * seconds) / 1000, call, *arguments)


@virtual
async def test_rests_are_as_long_on_average_where_timers_are_early() -> None:
    queue, slices = FairQueue(Coarse(CLOCK.now_ns, CLOCK.cpu_time_ns)), list[tuple[str, float]]()
    for number in range(101):
        queue.enqueue("a", Work(str(number), slices, cost=0.9 * 2_000 * MAX_TIME_SHARE))
    await asyncio.sleep(1)
    lasted = slices[-1][1] - slices[0][1]
    assert abs(lasted - 100 * 0.9 * 0.002) < 0.002
