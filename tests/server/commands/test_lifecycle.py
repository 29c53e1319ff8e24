"""Stop signals of a server."""

from __future__ import annotations

import os
import signal
from typing import Any

import anyio
import pytest

from arena.server.commands.lifecycle import serve_until_signal
from arena.server.settings import ArenaSettings


class StubHost:
    """Host whose matches in progress never end."""

    def __init__(self, match_count: int) -> None:
        self.settings = ArenaSettings()
        self.match_count = match_count
        self.draining = anyio.Event()
        self.shell = self

    async def drain_matches(self, _seconds: float) -> int:
        self.draining.set()
        await anyio.sleep_forever()
        return self.match_count


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_stops_an_idle_server_and_a_second_one_ends_the_wait_for_matches(
    number: signal.Signals,
) -> None:
    for match_count in (0, 2):
        host: Any = StubHost(match_count)
        with anyio.fail_after(500):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(serve_until_signal, host)
                await anyio.wait_all_tasks_blocked()
                os.kill(os.getpid(), number)
                if match_count:
                    await host.draining.wait()
                    os.kill(os.getpid(), number)
