"""`arena serve` as a process that is killed at random moments, and what bots and the store know afterwards."""

from __future__ import annotations

import random
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from arena.protocol.codes import EndReason
from testkit.server_kills import KillableServer, kill_server_repeatedly
from tests.e2e.commands import running, until_matches_are_played

pytestmark = [
    pytest.mark.usefixtures("loaded_commands"),
]  # a server's process starts again and again


@pytest.mark.parametrize("kills", [pytest.param(1, marks=pytest.mark.smoke), 5])
async def test_nothing_is_lost_or_doubled_by_kill_9(kills: int, tmp_path: Path) -> None:
    random.seed(5)
    outcome = await kill_server_repeatedly(
        kills, 6, folder=tmp_path, options=("--game", "tictactoe"), max_uptime_seconds=1.0
    )
    assert not outcome.faults
    assert outcome.acknowledged_move_count > 0
    assert outcome.interrupted_match_count > 0
    assert set(outcome.end_reasons) <= {EndReason.LINE, EndReason.BOARD_FULL}


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


async def test_positions_from_before_a_kill_are_counted_after_it(tmp_path: Path) -> None:
    """Each match ends where the whole of its moves says so, which its record is held against."""
    random.seed(6)
    (tmp_path / "circle.toml").write_text(CIRCLE)
    options = ("--map", str(tmp_path / "circle.toml"))
    outcome = await kill_server_repeatedly(4, 6, folder=tmp_path, options=options, max_uptime_seconds=2.0)
    assert not outcome.faults
    assert outcome.interrupted_match_count > 0
    assert outcome.end_reasons[EndReason.ADJUDICATED] > 0
    assert set(outcome.end_reasons) <= {EndReason.ADJUDICATED, EndReason.ELIMINATION, EndReason.ARMIES}


async def test_sigterm_starts_no_match_and_saves_unfinished_ones(tmp_path: Path) -> None:
    server = KillableServer(tmp_path, 1, "--game", "tictactoe", "--set=server.drain_seconds=0.2")
    with ExitStack() as stack:
        stack.callback(server.close)
        server.start()
        await server.wait_until_ready()
        slow = tmp_path / "slow.py"
        slow.write_text(
            "import time\nfrom arena.bots.api.bot import Bot\n\nclass Slow(Bot):\n"
            "    def choose(self, position, clock):\n        time.sleep(5)\n        return self.game.moves(position)[0]\n"
        )
        for name in ("one", "two"):
            stack.enter_context(
                running("bot", str(slow), "--name", name, "--url", server.url, folder=tmp_path)
            )
        await until_matches_are_played(server.url, 1)
        assert await server.stop(signal.SIGTERM) == 0
    assert "1 matches are saved" in server.log_file.read_text()
