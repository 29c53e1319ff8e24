from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import anyio
import anyio.abc
import pytest
from anyio.lowlevel import checkpoint

import arena.clock
from arena.server.web.request_queue import (
    MAX_PROCESSOR_CORE_SHARE,
    MAX_WAITING_REQUESTS_PER_ADDRESS,
    RequestQueue,
    ServerBusy,
)

COST = 10_000


class ManualClock(arena.clock.TimeSource):
    """Clock that makes scheduled calls only when the test asks for it."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[float, Callable[..., object]]] = []

    def call_later(self, seconds: float, call: Callable[..., object], *_: Any) -> Any:
        self.calls.append((seconds, call))

    async def advance(self) -> None:
        """Make the first scheduled call, and let the tasks that it wakes run."""
        _, call = self.calls.pop(0)
        call()
        for _ in range(10):
            await checkpoint()


async def ask(queue: RequestQueue, address: str, order: list[str]) -> None:
    async with queue.wait_for_turn(address, COST, 60):
        order.append(address)


async def settle() -> None:
    for _ in range(10):
        await checkpoint()


async def test_addresses_take_turns() -> None:
    clock, order = ManualClock(), list[str]()
    queue = RequestQueue(1, clock)
    async with anyio.create_task_group() as tasks:
        for _ in range(16):
            tasks.start_soon(ask, queue, "192.0.2.1", order)
        await settle()
        for address in ("192.0.2.2", "192.0.2.3"):
            tasks.start_soon(ask, queue, address, order)
        await settle()
        assert order == ["192.0.2.1"]
        for _ in range(4):
            await clock.advance()
        assert order == ["192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.1"]
        while clock.calls:
            await clock.advance()
    assert Counter(order) == {"192.0.2.1": 16, "192.0.2.2": 1, "192.0.2.3": 1}


@pytest.mark.parametrize("at_once", [1, 4])
async def test_responses_use_a_limited_share_of_the_time(at_once: int) -> None:
    clock, order = ManualClock(), list[str]()
    queue = RequestQueue(at_once, clock)
    async with anyio.create_task_group() as tasks:
        for number in range(3 * at_once):
            tasks.start_soon(ask, queue, f"192.0.2.{number}", order)
        await settle()
        assert len(order) == at_once
        rest = clock.calls[0][0]
        assert at_once * COST / 1e6 / rest == pytest.approx(MAX_PROCESSOR_CORE_SHARE)
        while clock.calls:
            await clock.advance()
    assert len(order) == 3 * at_once


async def test_an_abandoned_request_takes_no_turn() -> None:
    clock, order = ManualClock(), list[str]()
    queue = RequestQueue(1, clock)
    await ask(queue, "192.0.2.1", order)
    with anyio.move_on_after(0) as scope:
        await ask(queue, "192.0.2.2", order)
    assert scope.cancelled_caught
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, queue, "192.0.2.3", order)
        await settle()
        await clock.advance()
    await clock.advance()
    await ask(queue, "192.0.2.4", order)
    assert order == ["192.0.2.1", "192.0.2.3", "192.0.2.4"]


async def test_a_request_abandoned_at_its_turn_passes_the_turn_on() -> None:
    clock, order = ManualClock(), list[str]()
    queue = RequestQueue(1, clock)
    await ask(queue, "192.0.2.1", order)
    async with anyio.create_task_group() as outer:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask, queue, "192.0.2.2", order)
                await settle()
                outer.start_soon(ask, queue, "192.0.2.3", order)
                await settle()
                _, call = clock.calls.pop(0)
                call()
                scope.cancel()
        await settle()
        while clock.calls:  # if the request got its turn before it was cancelled
            await clock.advance()
    assert order in (["192.0.2.1", "192.0.2.3"], ["192.0.2.1", "192.0.2.2", "192.0.2.3"])


async def test_a_request_is_refused_after_too_long_a_wait_or_with_too_many_at_once() -> None:
    clock, order = ManualClock(), list[str]()
    queue = RequestQueue(1, clock)
    await ask(queue, "192.0.2.1", order)
    with pytest.raises(ServerBusy):
        async with queue.wait_for_turn("192.0.2.1", COST, 0):
            pass
    async with anyio.create_task_group() as tasks:
        for _ in range(MAX_WAITING_REQUESTS_PER_ADDRESS):
            tasks.start_soon(ask, queue, "192.0.2.1", order)
        await settle()
        with pytest.raises(ServerBusy):
            await ask(queue, "192.0.2.1", order)
        tasks.start_soon(ask, queue, "192.0.2.2", order)
        await settle()
        while clock.calls:
            await clock.advance()
    assert order.count("192.0.2.2") == 1
