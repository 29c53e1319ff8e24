"""The life of two bots of the command line: on a server that stops, is killed and stays away, until they are
told to end.

    ARENA_AWAY_SECONDS=180 pytest -m slow tests/e2e/test_bot_life.py

has the server away for three minutes; unless told otherwise it is away for as long as a bot takes to notice.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from arena.protocol.codes import EndReason
from arena.protocol.record import Record
from arena.server.store.database import open_store
from testkit.forked import ForkedCommand
from testkit.server_kills import KillableServer
from testkit.stored_records import load_event_records
from tests.bots.command_line import ARENA, environment
from tests.e2e.commands import until_matches_are_played

pytestmark = pytest.mark.usefixtures("loaded_commands")

AWAY_SECONDS = float(os.environ.get("ARENA_AWAY_SECONDS", "1"))
WAIT_TIMEOUT_SECONDS = 200.0
"""For what must happen some time. A bot that has no match in play tries once a minute at the least, and a busy machine
takes long to start a server."""

LISTENING = ("env", "--default-signal=INT")
"""Before a command: it listens to Ctrl-C, also where the tests run in the background of a shell, which ignores it."""

STEADY = """\
import random
import time
from arena.bots.api.bot import Bot

class Steady(Bot):
    def choose(self, position, clock):
        time.sleep(0.1)
        return random.choice(self.game.moves(position))
"""
"""A match of it takes about 0.8 s, so that nearly every restart meets one in play."""


class LivingBot:
    """`arena bot` as a process, and what it has said so far."""

    def __init__(self, folder: Path, url: str, name: str, *options: str, imports: bool) -> None:
        """`imports`: True to print a line for each loaded module on its standard error."""
        (folder / "steady.py").write_text(STEADY)
        self.name = name
        self._said, self._results = folder / f"{name}.err", folder / f"{name}.out"
        self._said.touch()
        self._results.touch()
        words = ["bot", str(folder / "steady.py"), "--url", url, "--name", name, *options]
        self.process: ForkedCommand | subprocess.Popen[bytes]
        if not imports:
            self.process = ForkedCommand(
                *words, cwd=folder, env=environment(), stdout=self._results, stderr=self._said
            )
            return
        with self._said.open("wb") as said, self._results.open("wb") as results:
            self.process = subprocess.Popen(
                [*LISTENING, *ARENA, *words],
                env=environment(PYTHONPROFILEIMPORTTIME="1"),
                stdout=results,
                stderr=said,
            )

    @property
    def said(self) -> str:
        return self._said.read_text()

    @property
    def results(self) -> list[str]:
        return self._results.read_text().splitlines()

    async def ended(self, *signals: signal.Signals) -> int:
        """Send these signals, and return the exit code."""
        for each in signals:
            self.process.send_signal(each)
            await anyio.sleep(0.05)
        return await anyio.to_thread.run_sync(lambda: self.process.wait(WAIT_TIMEOUT_SECONDS))


@contextmanager
def living(folder: Path, url: str, name: str, *options: str, imports: bool = False) -> Iterator[LivingBot]:
    bot = LivingBot(folder, url, name, *options, imports=imports)
    try:
        yield bot
    finally:
        bot.process.kill()
        bot.process.wait()


async def until(count: int, bot: LivingBot) -> None:
    """Wait until the bot has told of so many matches."""
    end = anyio.current_time() + WAIT_TIMEOUT_SECONDS
    while len(bot.results) < count:
        assert bot.process.poll() is None, bot.said
        assert anyio.current_time() < end, bot.said
        await anyio.sleep(0.02)


async def finished_records(server: KillableServer) -> list[Record]:
    async with open_store(server.database_url) as engine:
        return await load_event_records(engine, "serve")


def score_line(records: list[Record], name: str) -> str:
    """Return a bot's score by the server's own records, in the form of the bot's last line."""
    score = dict.fromkeys(("won", "drawn", "lost"), 0)
    for record in records:
        mine = "maxie" if record.players.maxie == name else "minnie"
        score[
            "drawn" if record.result.winner is None else "won" if record.result.winner == mine else "lost"
        ] += 1
    return f"{name}: {score['won']} won, {score['drawn']} drawn, {score['lost']} lost"


async def test_neither_a_restart_nor_a_kill_ends_a_bot_or_a_match(tmp_path: Path) -> None:
    """The server is stopped and started twice, killed and away for a while; then the bots finish."""
    server = KillableServer(tmp_path, 1, "--game", "tictactoe", "--set=server.drain_seconds=0.1")
    try:
        server.start()
        await server.wait_until_ready()
        with living(tmp_path, server.url, "ada") as ada, living(tmp_path, server.url, "bob") as bob:
            await until(1, ada)
            for how in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
                before = len(ada.results)
                await server.stop(how)
                if how is signal.SIGKILL:
                    await anyio.sleep(AWAY_SECONDS)
                server.start()
                await server.wait_until_ready()
                await until(before + 2, ada)
            assert await ada.ended(signal.SIGINT) == 0, ada.said
            assert await bob.ended(signal.SIGINT) == 0, bob.said
            assert await server.stop(signal.SIGTERM) == 0
        records = await finished_records(server)
        assert {each.result.reason for each in records} <= {EndReason.LINE, EndReason.BOARD_FULL}
        for bot in (ada, bob):
            assert bot.results[-1] == score_line(records, bot.name), bot.said
            gone = [line for line in bot.said.splitlines() if "; connecting again" in line]
            back = [line for line in bot.said.splitlines() if f"{bot.name} is back at" in line]
            assert len(gone) == len(back) == 3, bot.said
            assert all(re.search(r"the server at \S+ stops", line) for line in gone[:2])
            assert "was lost" in gone[2]
    finally:
        server.close()


async def test_a_second_ctrl_c_gives_up_and_the_loss_counts_on_both_sides(tmp_path: Path) -> None:
    server = KillableServer(tmp_path, 1, "--game", "tictactoe")
    try:
        server.start()
        await server.wait_until_ready()
        with living(tmp_path, server.url, "ada") as ada, living(tmp_path, server.url, "bob") as bob:
            await until(1, ada)
            await until_matches_are_played(server.url, 1)
            assert await ada.ended(signal.SIGINT, signal.SIGINT) == 0
            assert await bob.ended(signal.SIGTERM) == 0
            assert await server.stop(signal.SIGTERM) == 0
        records = await finished_records(server)
        assert ada.results[-1] == score_line(records, "ada"), ada.said
        assert "Traceback" not in ada.said
    finally:
        server.close()


@pytest.mark.parametrize("module", ["typer.core", "arena.bots.client.client"])
async def test_two_ctrl_c_in_a_row_end_in_one_line_at_any_moment(module: str, tmp_path: Path) -> None:
    """While the command is being loaded, as far as this module, and after that: there is no server to play on."""
    with living(tmp_path, "ws://127.0.0.1:9", "ada", "--wait", "600", imports=True) as ada:
        with anyio.fail_after(WAIT_TIMEOUT_SECONDS):
            while not re.search(rf"\| +{re.escape(module)}$", ada.said, re.MULTILINE):
                await anyio.sleep(0.005)
        await ada.ended(signal.SIGINT, signal.SIGINT)
    lines = [line for line in ada.said.splitlines() if not line.startswith("import time:")]
    assert len(lines) + len(ada.results) <= 1, lines
