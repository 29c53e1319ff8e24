from __future__ import annotations

import asyncio
from time import monotonic_ns

import anyio

from arena.server.rooms.deadline_timer import ARRIVAL_TURNS, DeadlineTimer

SECOND = 1_000_000_000


async def test_it_falls_once_at_the_first_of_the_deadlines_that_it_follows() -> None:
    fallen: list[int] = []
    timer = DeadlineTimer()

    def fell() -> None:
        fallen.append(monotonic_ns())

    first = monotonic_ns() + SECOND // 50
    for deadline in (first + 9 * SECOND, first + SECOND, first, first + 5 * SECOND):
        timer.follow(deadline, fell)
    with anyio.fail_after(5):
        while not fallen:
            await anyio.sleep(0.001)
    await anyio.sleep(0.02)
    (at,) = fallen
    assert at >= first
    timer.follow(monotonic_ns(), fell)
    with anyio.fail_after(5):
        while len(fallen) < 2:
            await anyio.sleep(0.001)


async def test_what_the_loop_has_to_do_already_goes_before_a_deadline_that_has_passed() -> None:
    order: list[str] = []
    timer = DeadlineTimer()
    loop = asyncio.get_running_loop()

    def arrive(turns: int) -> None:
        if turns:
            loop.call_soon(arrive, turns - 1)
        else:
            order.append("message")

    timer.follow(monotonic_ns() - SECOND, lambda: order.append("deadline"))
    loop.call_later(0, arrive, ARRIVAL_TURNS - 1)
    with anyio.fail_after(5):
        while len(order) < 2:
            await anyio.sleep(0.001)
    assert order == ["message", "deadline"]


async def test_one_that_is_stopped_does_not_fall() -> None:
    fallen: list[int] = []
    timer = DeadlineTimer()
    timer.follow(monotonic_ns() + SECOND // 100, lambda: fallen.append(1))
    timer.stop()
    timer.stop()
    await anyio.sleep(0.03)
    assert fallen == []
