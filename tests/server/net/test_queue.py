"""The queue for turns: one piece of work at a time, and nobody holds up another."""

from __future__ import annotations

import asyncio
from typing import Any

from arena.server.net.queue import AddressQueue, TurnQueue


async def test_turns_come_one_at_a_time_in_order_and_survive_a_fault() -> None:
    taken: list[int] = []
    queue, done, loop = TurnQueue(lambda: 0.001), asyncio.Event(), asyncio.get_running_loop()
    faults: list[Any] = []
    loop.set_exception_handler(lambda _loop, context: faults.append(context["exception"]))

    def step(number: int) -> None:
        taken.append(number)
        if number == 1:
            raise ValueError("a fault")
        if number == 3:
            done.set()

    for number in range(4):
        queue.enter("10.0.0.1", lambda number=number: step(number))  # type: ignore[misc]
    await asyncio.sleep(0)
    assert taken == [0], "the others have their turns later"
    await asyncio.wait_for(done.wait(), 10)
    assert taken == [0, 1, 2, 3]
    assert [str(each) for each in faults] == ["a fault"]


async def test_an_address_with_a_crowd_does_not_hold_up_another() -> None:
    taken: list[str] = []
    queue, done = TurnQueue(lambda: 0.001), asyncio.Event()
    for _ in range(100):
        queue.enter("10.0.0.1", lambda: taken.append("crowd"))
    queue.enter("10.0.0.2", lambda: taken.append("anna"))
    queue.enter("10.0.0.2", done.set)
    await asyncio.wait_for(done.wait(), 10)
    assert taken == ["crowd", "anna", "crowd"]


def test_addresses_take_turns_and_what_waits_no_longer_has_none() -> None:
    queue: AddressQueue[str] = AddressQueue()
    for address, each in (("a", "a1"), ("a", "a2"), ("b", "b1"), ("c", "c1"), ("a", "a3")):
        queue.enter(address, each)
    queue.remove("c", "c1")
    queue.remove("a", "a2")
    assert [queue.next() for _ in range(3)] == ["a1", "b1", "a3"]
    assert not queue
