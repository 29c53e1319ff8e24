"""A pool of two deterministic bots: `arena serve` and `arena bot` as processes."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from arena.server.store.database import open_store
from testkit.crash import KillableServer
from testkit.forked import ForkedCommand
from testkit.stored import load_records

pytestmark = pytest.mark.usefixtures("loaded_commands")


async def play_on_server(folder: Path, *options: str, matches: int) -> str:
    """Return the store of a server on which two bots that always answer alike have played so many matches."""
    server = KillableServer(folder, 1, *options)
    with ExitStack() as stack:
        stack.callback(server.close)
        server.start()
        await server.wait_listening()
        bots = []
        for name, engine in (("ada", "greedy"), ("bob", "minimax:depth=2")):
            options = ("--url", server.url, "--name", name, "--games", str(matches))
            bots.append(ForkedCommand("bot", engine, *options, cwd=folder))
            stack.callback(bots[-1].kill)
        for bot in bots:
            assert await anyio.to_thread.run_sync(bot.wait) == 0
        assert await server.stop(signal.SIGTERM) == 0
    return server.database


async def test_ten_matches_are_ten_distinct_games_in_pairs_with_the_seats_swapped(tmp_path: Path) -> None:
    store = await play_on_server(tmp_path, "--map", "m2", "--set=pool.openings=shipped", matches=10)
    async with open_store(store) as engine:
        records = await load_records(engine, "serve")
    games = {repr((record.players, [each.move for each in record.moves])) for record in records}
    assert len(games) == len(records) == 10
    records.sort(key=lambda record: record.started)
    begun = [tuple(repr(each.move) for each in record.moves if each.opening) for record in records]
    assert all(begun)
    assert len(set(begun)) == 5
    for opening in set(begun):
        seats = [record.players.maxie for record, each in zip(records, begun, strict=True) if each == opening]
        assert sorted(seats) == ["ada", "bob"]
