"""processes.bot_process: restarts of a bot, on a virtual clock and fake processes."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from itertools import pairwise

import anyio
import pytest

from arena.processes import bot_process
from arena.processes.bot_process import BotProcess, BotState, RestartPolicy
from arena.processes.child import BotLaunchSettings
from testkit.virtual_time import VIRTUAL_CLOCK
from tests.virtual import virtual

PATIENCE = RestartPolicy(
    connect_timeout_seconds=60, max_restarts=7, backoff_seconds=0.25, max_backoff_seconds=5
)


class FakeProcess:
    """Substitute for `ChildProcess`, which ends after `lasts` seconds of virtual time."""

    runs: list[FakeProcess]
    lasts: float

    def __init__(self) -> None:
        self.began = VIRTUAL_CLOCK.now()
        self.supervisor_pid = 1
        self.output_tail = deque(["last words"])
        self.exit_code: int | None = None
        self._end = asyncio.Event()
        if self.lasts < math.inf:
            VIRTUAL_CLOCK.call_later(self.lasts, self._ends, 1)

    @classmethod
    async def start(cls, *_: object) -> FakeProcess:
        cls.runs.append(cls())
        return cls.runs[-1]

    def _ends(self, code: int) -> None:
        if self.exit_code is None:
            self.exit_code = code
            self._end.set()

    async def wait_for_exit(self) -> int:
        await self._end.wait()
        assert self.exit_code is not None
        return self.exit_code

    async def read_output_until_closed(self) -> None: ...

    async def wait_for_remaining_output(self) -> None: ...

    async def kill(self) -> None:
        self._ends(137)

    async def stop_or_kill(self, _seconds: float) -> None:
        self._ends(143)


class FakeServer:
    """Server to which each bot connects `after` seconds after its start."""

    def __init__(self, after: float) -> None:
        self._after = after

    def issue_token(self, name: str) -> str:
        return f"token of {name}"

    async def wait_until_connected(self, _name: str, seconds: float) -> bool:
        await VIRTUAL_CLOCK.sleep(min(self._after, seconds))
        return self._after <= seconds

    def forfeit_bot_matches(self, name: str, exit_text: str) -> None: ...


@pytest.fixture(autouse=True)
def _fake_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_process, "ChildProcess", FakeProcess)
    FakeProcess.runs = []


def make_process(told: list[str], connects_after: float, lasts: float) -> BotProcess:
    FakeProcess.lasts = lasts
    launch = BotLaunchSettings("a", ("program",), "ws://here")
    return BotProcess(launch, FakeServer(connects_after), PATIENCE, told.append, lambda: None, VIRTUAL_CLOCK)


def pauses(runs_for: float) -> list[float]:
    """Return the pause between each end of the process and its next start, in seconds."""
    began = [each.began for each in FakeProcess.runs]
    return [later - now - runs_for for now, later in pairwise(began)]


@virtual
async def test_the_pause_before_a_restart_doubles_up_to_its_limit() -> None:
    lines: list[str] = []
    bot = make_process(lines, connects_after=0.5, lasts=10)
    await bot.run()
    assert bot.state is BotState.LOST
    assert pauses(10) == pytest.approx([0.25, 0.5, 1, 2, 4, 5, 5])
    assert [line.partition(";")[0] for line in lines] == ["bot a ended unexpectedly (exit code 1)"] * 8


@virtual
async def test_after_a_move_the_pauses_begin_with_the_first_one() -> None:
    bot = make_process([], connects_after=0.5, lasts=10)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bot.run)
        await VIRTUAL_CLOCK.sleep(25)
        bot.record_match_with_moves()
        await VIRTUAL_CLOCK.sleep(20)
        assert bot.state is BotState.UP
        assert pauses(10) == pytest.approx([0.25, 0.5, 0.25, 0.5])
        tasks.cancel_scope.cancel()


@virtual
async def test_a_bot_that_never_connects_is_lost_after_its_time() -> None:
    lines: list[str] = []
    bot = make_process(lines, connects_after=math.inf, lasts=math.inf)
    await bot.run()
    assert pauses(60) == pytest.approx([0.25, 0.5, 1, 2, 4, 5, 5])
    assert lines[0].startswith("bot a hung: it did not connect within 60 s; it is started again")
