"""Stop signals of a server: none is lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing

import anyio
import pytest

from arena.server.commands.lifecycle import StopSignals


@pytest.fixture
def stop() -> Iterator[StopSignals]:
    with closing(StopSignals()) as signals:
        yield signals


def send_signal(number: int = signal.SIGTERM) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_no_signal_is_lost_between_two_waits(stop: StopSignals, number: signal.Signals) -> None:
    with anyio.move_on_after(0.001) as early:
        await stop.wait_until_signalled()
    assert early.cancelled_caught
    send_signal(number)
    await anyio.sleep(0.01)
    states = [stop.was_received]
    await stop.wait_until_signalled()
    states.append(stop.was_received)
    await stop.wait_until_signalled()
    assert states == [False, True]
    with anyio.move_on_after(0.01) as scope:
        await stop.wait_for_next_signal()
    assert scope.cancelled_caught
    send_signal(number)
    with anyio.fail_after(500):
        await stop.wait_for_next_signal()
