"""`arena serve` as a process that is killed at random moments, and what bots and the store know afterwards."""

from __future__ import annotations

import random
import signal
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen

import anyio
import pytest

from arena.protocol.codes import EndReason
from arena.protocol.record import read
from testkit.crash import Server, crash
from tests.e2e.commands import running

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.usefixtures("loaded_commands"),
]  # a server's process starts again and again


@pytest.mark.parametrize("kills", [1, pytest.param(5, marks=pytest.mark.soak)])
async def test_nothing_is_lost_or_doubled_by_kill_9(kills: int, tmp_path: Path) -> None:
    random.seed(5)
    outcome = await crash(kills, 6, folder=tmp_path, options=("--game", "tictactoe"), longest=1.0)
    assert not outcome.faults
    assert outcome.acknowledged > 0
    assert outcome.interrupted > 0
    assert set(outcome.reasons) <= {EndReason.LINE, EndReason.BOARD_FULL}


CIRCLE = """\
territory_cap = 1
armies_to_win = 4
ply_limit = 400
[[territory]]
name = "a"
place = [0, 0]
roads = ["b"]
start = ["maxie", 1]
[[territory]]
name = "b"
place = [1, 0]
roads = ["a", "c"]
[[territory]]
name = "c"
place = [2, 0]
roads = ["b", "d"]
[[territory]]
name = "d"
place = [3, 0]
roads = ["c"]
start = ["minnie", 1]
"""
"""A map on which armies never grow, so that most positions come up again."""


@pytest.mark.soak
async def test_positions_from_before_a_kill_are_counted_after_it(tmp_path: Path) -> None:
    """Each match ends where the whole of its moves says so, which its record is held against."""
    random.seed(6)
    (tmp_path / "circle.toml").write_text(CIRCLE)
    options = ("--map", str(tmp_path / "circle.toml"))
    outcome = await crash(4, 6, folder=tmp_path, options=options, longest=2.0)
    assert not outcome.faults
    assert outcome.interrupted > 0
    assert outcome.reasons[EndReason.ADJUDICATED] > 0
    assert set(outcome.reasons) <= {EndReason.ADJUDICATED, EndReason.ELIMINATION, EndReason.ARMIES}


async def test_bots_of_the_command_line_come_back_by_themselves_and_play_on(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    server = Server(tmp_path, 1, "--game", "tictactoe", f"--set=store.record={record}")
    with ExitStack() as stack:
        stack.callback(server.close)
        server.start()
        await server.wait_listening()
        for name in ("random", "greedy"):
            stack.enter_context(running("bot", name, "--url", server.url, folder=tmp_path))
        await lines(record, 1)
        await server.stop(signal.SIGKILL)
        known = len(list(read(record)))
        server.start()
        await server.wait_listening()
        await lines(record, known + 2)
        assert await server.stop(signal.SIGTERM) == 0
    played = list(read(record))
    assert {each.result.reason for each in played} <= {EndReason.LINE, EndReason.BOARD_FULL}
    assert len({each.match for each in played}) == len(played)


async def lines(file: Path, count: int) -> None:
    """Wait until a file has so many lines."""
    with anyio.fail_after(60):
        while not file.exists() or len(file.read_bytes().splitlines()) < count:
            await anyio.sleep(0.05)


async def test_sigterm_begins_no_new_match_and_saves_what_does_not_end(tmp_path: Path) -> None:
    server = Server(tmp_path, 1, "--game", "tictactoe", "--set=server.drain_seconds=0.2")
    with ExitStack() as stack:
        stack.callback(server.close)
        server.start()
        await server.wait_listening()
        slow = tmp_path / "slow.py"
        slow.write_text(
            "import time\nfrom arena.bots.api.bot import Bot\n\nclass Slow(Bot):\n"
            "    def choose(self, position, clock):\n        time.sleep(5)\n        return self.game.moves(position)[0]\n"
        )
        for name in ("one", "two"):
            stack.enter_context(
                running("bot", str(slow), "--name", name, "--url", server.url, folder=tmp_path)
            )
        with anyio.fail_after(60):
            while b"matches" not in await metrics(server.url) or b"arena_matches 1.0" not in await metrics(
                server.url
            ):
                await anyio.sleep(0.05)
        assert await server.stop(signal.SIGTERM) == 0
    assert "1 matches are saved" in server.log.read_text()


async def metrics(url: str) -> bytes:
    def ask() -> bytes:
        with urlopen(url.replace("ws:", "http:") + "/metrics", timeout=60) as answer:
            told: bytes = answer.read()
            return told

    return await anyio.to_thread.run_sync(ask)
