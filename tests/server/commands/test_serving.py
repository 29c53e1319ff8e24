"""server.commands.serving: what tells a server of an arena to stop is not forgotten when it loses its place."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing

import anyio
import pytest

from arena.server.arena.membership import CutOff
from arena.server.bus.bus import Bus
from arena.server.bus.local import Exchange
from arena.server.commands.serving import StopSignals, again_and_again
from arena.server.store.database import StoreError
from arena.server.store.lease import Lease, LeaseLost

LOST = LeaseLost(Lease("north", 1))
CUT_OFF = CutOff("cut off")


@pytest.fixture
def stop() -> Iterator[StopSignals]:
    with closing(StopSignals()) as signals:
        yield signals


@pytest.fixture
def bus() -> Bus:
    return Exchange().join()


def tell(number: int = signal.SIGTERM) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_every_signal_is_waited_for_and_none_is_lost_between_two_waits(
    stop: StopSignals, number: signal.Signals
) -> None:
    assert not await stop.come_within(0.001)
    tell(number)
    await anyio.sleep(0.01)
    told = [stop.told]
    await stop.wait()
    told.append(stop.told)
    await stop.wait()
    assert told == [False, True]
    with anyio.move_on_after(0.01) as scope:
        await stop.wait_again()
    assert scope.cancelled_caught
    tell(number)
    with anyio.fail_after(30):
        await stop.wait_again()


@pytest.mark.parametrize("error", [LOST, CUT_OFF], ids=["lease", "cut-off"])
async def test_who_loses_its_place_comes_in_anew_and_who_was_about_to_stop_does_not(
    stop: StopSignals, bus: Bus, error: StoreError
) -> None:
    lives = 0

    async def once(_bus: Bus) -> None:
        nonlocal lives
        lives += 1
        if lives == 2:
            await stop.wait()
        elif lives == 1:
            assert not await stop.come_within(0.001)
            tell_later.start_soon(told_in_its_second_life)
        raise error

    async def told_in_its_second_life() -> None:
        while lives < 2:
            await anyio.sleep(0.01)
        tell()

    async with anyio.create_task_group() as tell_later:
        with anyio.fail_after(30):
            await again_and_again(bus, once, stop)
    assert lives == 2


async def test_who_is_told_to_stop_between_two_lives_has_no_other(stop: StopSignals, bus: Bus) -> None:
    lives = 0

    async def once(_bus: Bus) -> None:
        nonlocal lives
        lives += 1
        assert not await stop.come_within(0.001)
        tell()
        raise LOST

    with anyio.fail_after(30):
        await again_and_again(bus, once, stop)
    assert (lives, stop.told) == (1, True)


async def test_a_store_that_is_away_at_the_first_beginning_is_told_and_later_waited_for(
    stop: StopSignals, bus: Bus
) -> None:
    ends: list[Exception | None] = [LOST, StoreError("away"), None]

    async def once(_bus: Bus) -> None:
        error = ends.pop(0)
        if error is not None:
            raise error

    with anyio.fail_after(30):
        await again_and_again(bus, once, stop)
    assert ends == []
    ends[:] = [StoreError("away")]
    with pytest.raises(StoreError, match="away"):
        await again_and_again(bus, once, stop)
