"""Bots of the command line that are ended in mid-match and started again: they go on, and nothing is forfeited."""

from __future__ import annotations

import signal
from pathlib import Path

import anyio
import pytest

from arena.protocol.codes import FORFEIT_REASONS
from testkit.forked import ForkedCommand
from testkit.server_kills import KillableServer
from tests.bots.command_line import environment
from tests.e2e.test_bot_life import WAIT_TIMEOUT_SECONDS, finished_records
from tests.games.own import EXAMPLES

pytestmark = pytest.mark.usefixtures("loaded_commands")

VERSION = """\
import random
import time
from pathlib import Path
from arena import Bot

class Steady(Bot):
    def choose(self, position, clock):
        time.sleep(0.1)
        with Path(__file__).with_name("VERSION").open("a") as file:
            print(self.match.id, file=file)
        return random.choice(self.game.moves(position))
"""
CONNECT4 = f"{EXAMPLES / 'connect4.py'}:ConnectFour"


class Deployed:
    """`arena bot` as a process that is started again."""

    def __init__(self, folder: Path, url: str, name: str, *options: str) -> None:
        self.folder = folder / name
        self.folder.mkdir()
        (self.folder / "bot.toml").write_text(f'engine = "steady.py"\nurl = "{url}"\nname = "{name}"\n')
        self.said = self.folder / "said"
        self._options = options
        self._starts = 0
        self.process: ForkedCommand

    def start(self, version: str) -> None:
        """Start a version of the bot's file."""
        # Every version has a size of its own: Python takes the compiled form of a file that has the size of the one before,
        # and was written in the same second.
        self._starts += 1
        (self.folder / "steady.py").write_text(VERSION.replace("VERSION", version) + "\n" * self._starts)
        self.process = ForkedCommand(
            *("bot", str(self.folder / "bot.toml"), *self._options),
            cwd=self.folder.parent,
            env=environment(),
            stdout=self.said,
            stderr=self.said,
        )

    def moves_of(self, version: str) -> list[str]:
        """Return the match of each move of a version."""
        file = self.folder / version
        return file.read_text().split() if file.is_file() else []

    async def begun(self, version: str, before: str = "") -> str:
        """Wait until a version has just begun a match in which the version before has not moved. Return the match."""
        with anyio.fail_after(WAIT_TIMEOUT_SECONDS):
            while True:
                moves = self.moves_of(version)
                if moves and moves.count(moves[-1]) == 1 and moves[-1] not in self.moves_of(before):
                    return moves[-1]
                await anyio.sleep(0.02)

    async def end(self, how: signal.Signals) -> int:
        """End the process. Return its exit code."""
        self.process.send_signal(how)
        return await anyio.to_thread.run_sync(lambda: self.process.wait(WAIT_TIMEOUT_SECONDS))


async def test_a_new_process_goes_on_with_the_matches_of_the_old_one_in_a_game_of_its_own(
    tmp_path: Path,
) -> None:
    server = KillableServer(tmp_path, 1, "--game", CONNECT4)
    ada, bob = (Deployed(tmp_path, server.url, name, "--game", CONNECT4) for name in ("ada", "bob"))
    try:
        server.start()
        await server.wait_until_ready()
        bob.start("bob")
        begun = []
        for number, how in enumerate((signal.SIGTERM, signal.SIGKILL, signal.SIGTERM), 1):
            ada.start(f"version{number}")
            begun.append(await ada.begun(f"version{number}", f"version{number - 1}"))
            await ada.end(how)
            sessions = list(ada.folder.glob("*.session"))
            assert len(sessions) == 1
            assert sessions[0].stat().st_mode & 0o777 == 0o600
        ada.start("version4")
        await ada.begun("version4", "version3")
        for number, match in enumerate(begun, 1):
            assert match in ada.moves_of(f"version{number + 1}"), f"version {number + 1} did not play on"
        assert await ada.end(signal.SIGINT) == 0
        assert await bob.end(signal.SIGINT) == 0
        assert await server.stop(signal.SIGTERM) == 0
        records = await finished_records(server)
        assert records
        assert not {each.result.reason for each in records} & FORFEIT_REASONS, ada.said.read_text()
        assert "; 1 match in play" in ada.said.read_text()
        assert not list(ada.folder.glob("*.session"))
    finally:
        server.close()
        for bot in (ada, bob):
            if hasattr(bot, "process"):
                bot.process.kill()


async def test_a_token_proves_the_name_where_the_file_is_gone(tmp_path: Path) -> None:
    server = KillableServer(tmp_path, 1, "--game", "riskless", "--map", "path4")
    ada, bob = (Deployed(tmp_path, server.url, name) for name in ("ada", "bob"))
    token = tmp_path / "made"
    forked = ForkedCommand(
        "token", "create", "ada", "--db", server.database_url, cwd=tmp_path, stdout=token, stderr=token
    )
    assert await anyio.to_thread.run_sync(forked.wait, WAIT_TIMEOUT_SECONDS) == 0
    (word,) = [word for word in token.read_text().split() if len(word) > 20 and "/" not in word]
    with (ada.folder / "bot.toml").open("a") as file:
        file.write('token-file = "token"\n')
    (ada.folder / "token").write_text(word)
    try:
        server.start()
        await server.wait_until_ready()
        bob.start("bob")
        ada.start("version1")
        match = await ada.begun("version1")
        await ada.end(signal.SIGKILL)
        for file_ in ada.folder.glob("*.session"):
            file_.unlink()
        ada.start("version2")
        await ada.begun("version2", "version1")
        assert match in ada.moves_of("version2")
    finally:
        server.close()
        for bot in (ada, bob):
            if hasattr(bot, "process"):
                bot.process.kill()
