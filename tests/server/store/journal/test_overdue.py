"""A store that does not answer is noticed, by one timer for all that it is asked."""

from __future__ import annotations

import asyncio
from time import monotonic

import anyio

from arena.server.store.journal.overdue import Overdue


async def test_what_does_not_end_is_called_late_and_again_until_it_ends() -> None:
    calls: list[float] = []
    late = asyncio.Event()

    def note() -> None:
        calls.append(monotonic())
        if len(calls) == 2:
            watch.ended()
            late.set()

    watch = Overdue(note)
    end = monotonic() + 0.02
    watch.begin(end)
    with anyio.fail_after(30):
        await late.wait()
    assert end <= calls[0] < calls[1]
    watch.stop()


async def test_what_ends_in_time_is_never_called_late_however_often_it_begins() -> None:
    calls: list[float] = []
    watch = Overdue(lambda: calls.append(monotonic()))
    over = monotonic() + 0.05
    while monotonic() < over:
        watch.begin(monotonic() + 0.5)
        await asyncio.sleep(0)
        watch.ended()
    await asyncio.sleep(0.02)
    assert calls == []
    watch.stop()


async def test_an_earlier_end_than_that_of_what_was_before_is_kept() -> None:
    called = asyncio.Event()
    watch = Overdue(called.set)
    watch.begin(monotonic() + 3600)
    watch.ended()
    watch.begin(monotonic())
    with anyio.fail_after(30):
        await called.wait()
    watch.stop()


async def test_nothing_is_called_late_after_the_stop() -> None:
    calls: list[float] = []
    watch = Overdue(lambda: calls.append(monotonic()))
    watch.begin(monotonic())
    watch.stop()
    await asyncio.sleep(0.01)
    assert calls == []
