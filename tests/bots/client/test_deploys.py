"""Bots that are restarted again and again, in a simulation of servers, network and clocks, with real clients.

    ARENA_DEPLOY_HOURS=24 pytest -m slow tests/bots/client/test_deploys.py

simulates a day, which takes about two hours. The default is an eighth of an hour.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from arena.bots.client.client import Client
from arena.bots.client.session_file import SessionFile
from arena.bots.client.settings import ClientSettings
from arena.protocol.codes import EndReason
from testkit.simulation.arena import SimulatedArena, SimulationPlan
from testkit.simulation.bots import SERVER_URL, RealClientBot
from testkit.simulation.servers import patch_servers_environment
from testkit.simulation.world import NS_PER_SECOND, SimulatedProcess

SECONDS = round(3600 * float(os.environ.get("ARENA_DEPLOY_HOURS", "0.125")))
DEPLOYS = 10
pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200)]
AWAY_NS = 2 * NS_PER_SECOND
"""Time between the end of a bot's process and the start of its next process, in ns."""


class DeployedBot(RealClientBot):
    """Simulated process with a real client, which is ended and restarted, alternately by `kill -9` and by `Client.stop`."""

    folder: Path
    remembers = True
    memory: SessionFile | None = None

    async def _main(self) -> None:
        memory = SessionFile(self.folder / self.name) if self.remembers else None
        self.memory = memory
        make: Any = None  # the simulation's workers create no bot
        options = ClientSettings(
            SERVER_URL, self.name, concurrency=2, connect_wait_seconds=1e6, session_file=memory
        )
        self.client = Client(
            make,
            options,
            on_status=lambda _line: None,
            on_problem=self._handle_client_log_line,
            clock=self.process.clock,
        )
        try:
            await self.client.run()
        finally:
            if memory is not None:
                memory.close()
        self.has_left = self.is_leaving

    def deploy(self, number: int) -> None:
        """End the process, by `Client.stop` if `number` is odd, otherwise by `kill -9`, and start the next after AWAY_NS."""
        old = self.process
        if number % 2:
            self.process.schedule(self.client.stop)
            self.arena.world.call_after(NS_PER_SECOND, old.kill)
        else:
            old.kill()
            if self.memory is not None:
                self.memory.close()  # as the operating system does when a process has ended
        self.arena.monitor.record_lost_session(self.name)
        self.arena.world.call_after(AWAY_NS, self._next)

    def _next(self) -> None:
        self.process = SimulatedProcess(self.arena.world, self.name, address=self.process.address)
        self.process.start(self._main())


def deployed(folder: Path, seconds: int, *, remembers: bool) -> SimulatedArena:
    """Run a simulation with two bots, each of which is restarted DEPLOYS times, at different times.

    remembers  True if the bots keep session files
    """
    arena = SimulatedArena(
        SimulationPlan(seed=37, duration_seconds=seconds, bot_count=0, time_control_index=2, is_cluster=False)
    )
    bots = [DeployedBot(arena, number) for number in range(2)]
    for place, bot in enumerate(bots):
        bot.folder, bot.remembers = folder, remembers
        for number in range(DEPLOYS):
            at = round((number + 0.4 + 0.3 * place) * seconds / DEPLOYS * NS_PER_SECOND)
            arena.world.call_at(at, lambda bot=bot, number=number: bot.deploy(number))  # type: ignore[misc]
    arena.bots = list(bots)
    with patch_servers_environment(arena):
        try:
            arena.run(seconds, [])
        finally:
            arena.close()
    return arena


def test_ten_restarts_lose_no_match(tmp_path: Path) -> None:
    arena = deployed(tmp_path, SECONDS, remembers=True)
    assert set(arena.monitor.end_reasons) <= {EndReason.LINE.value, EndReason.BOARD_FULL.value}
    assert len(arena.monitor.finished_matches) > SECONDS / 100
    assert list(tmp_path.iterdir()) == []


def test_a_bot_without_session_file_and_token_loses_its_matches(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="neither its session nor a token"):
        deployed(tmp_path, 500, remembers=False)
