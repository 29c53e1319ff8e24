"""Two `arena serve` on one store: the second is refused, or takes over, and the first then changes nothing."""

from __future__ import annotations

import asyncio
import random
import signal
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from arena.protocol.record import format_record_line
from arena.server.store.database import open_store
from testkit.forked import ForkedCommand
from testkit.players import RandomPlayer
from testkit.server_kills import CrashTestResult, KillableServer, compare_messages_with_store
from testkit.stored_records import load_event_records
from tests.e2e.commands import running

pytestmark = pytest.mark.usefixtures("loaded_commands")


async def test_the_second_is_refused_and_the_matches_of_the_first_go_on(tmp_path: Path) -> None:
    with ExitStack() as stack:
        first, second = servers(tmp_path, stack)
        first.start()
        await first.wait_until_ready()
        for name in ("random", "greedy"):
            stack.enter_context(running("bot", name, "--url", first.url, folder=tmp_path))
        second.start()
        assert second.process is not None
        assert await asyncio.to_thread(second.process.wait, 150) == 1
        *_, line = second.log_file.read_text().splitlines()
        assert first.process is not None
        assert "the server without a name is running on this store already: on " in line
        assert f", process {first.process.pid}, since " in line
        assert line.endswith("To run a second server on this store, give it another server.name")
        assert "Traceback" not in second.log_file.read_text()
        assert await first.stop(signal.SIGTERM) == 0


@pytest.mark.slow
async def test_kills_and_takeovers_in_any_order_lose_no_move_and_change_no_record(tmp_path: Path) -> None:
    """Two processes of one name, of which one plays, and a third of another name beside them.

    tests/e2e/test_cluster.py kills and freezes those who lead on PostgreSQL.
    """
    dice, file = random.Random(7), tmp_path / "arena.db"
    database = f"sqlite:///{file}"
    with ExitStack() as stack:
        first, second, other = (
            server(tmp_path / each, stack, database, f"--set=server.name={name}")
            for each, name in (("first", "north"), ("second", "north"), ("other", "south"))
        )
        players = [
            RandomPlayer(url, f"{name} {number}", lambda: dice.uniform(0.02, 0.3), fallback_urls=elsewhere)
            for url, name, elsewhere in ((first.url, "n", (second.url,)), (other.url, "s", ()))
            for number in range(4)
        ]
        records: dict[str, str] = {}
        outcome = CrashTestResult()
        async with asyncio.TaskGroup() as tasks:
            playing = [tasks.create_task(player.run()) for player in players]
            for each in (first, other):
                each.start()
                await each.wait_until_ready()
            for what in ("kill", "freeze", "kill", "other", "stop", "freeze", "kill"):
                await until_moves_are_acknowledged(players[:4], dice.randint(15, 40))
                if what == "other":
                    await other.stop(signal.SIGKILL)
                    other.start()
                    await other.wait_until_ready()
                elif what == "freeze":
                    assert first.process is not None
                    await freeze(first.process, file)
                    second.start()
                    await second.wait_until_ready()
                    first.process.send_signal(signal.SIGCONT)
                    assert await asyncio.to_thread(first.process.wait, 150) == 1
                    first, second = second, first
                else:
                    await first.stop(signal.SIGKILL if what == "kill" else signal.SIGTERM)
                    second.start()
                    await second.wait_until_ready()
                    first, second = second, first
                now = await lines(database)
                assert records.items() <= now.items(), "a record has changed"
                records = now
            codes = [await each.stop(signal.SIGTERM) for each in (first, other)]
            for task in playing:
                task.cancel()
        assert codes == [0, 0]
        await compare_messages_with_store(database, players, set(), outcome)
    assert not outcome.faults
    assert outcome.acknowledged_move_count > 100


async def until_moves_are_acknowledged(players: list[RandomPlayer], more: int) -> None:
    """Wait until the players have had so many moves more acknowledged."""
    goal = sum(len(each.acknowledged_moves) for each in players) + more
    async with asyncio.timeout(300):
        while sum(len(each.acknowledged_moves) for each in players) < goal:
            await asyncio.sleep(0.002)


async def freeze(process: ForkedCommand, file: Path) -> None:
    """Let a process stand still, but not in the middle of a change of an SQLite file: nobody else could write."""
    while True:
        process.send_signal(signal.SIGSTOP)
        if await asyncio.to_thread(can_be_changed, file):
            return
        process.send_signal(signal.SIGCONT)
        await asyncio.sleep(0.01)


def can_be_changed(file: Path) -> bool:
    with closing(sqlite3.connect(file, timeout=1, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        return True


async def lines(database: str) -> dict[str, str]:
    """Return the records in a store, as lines."""
    async with open_store(database) as engine:
        return {each.match: format_record_line(each) for each in await load_event_records(engine, "serve")}


def servers(folder: Path, stack: ExitStack) -> tuple[KillableServer, KillableServer]:
    """Return two on the same store, with logs and ports of their own."""
    database = f"sqlite:///{folder / 'arena.db'}"
    return server(folder / "first", stack, database), server(folder / "second", stack, database)


def server(folder: Path, stack: ExitStack, database: str, *options: str) -> KillableServer:
    """Start a server on a store, with a separate log and port."""
    folder.mkdir()
    server = KillableServer(folder, 2, "--game", "tictactoe", "--db", database, *options)
    stack.callback(server.close)
    return server
