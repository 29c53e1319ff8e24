from __future__ import annotations

from pathlib import Path

import anyio
import anyio.from_thread
import pytest
import sqlalchemy as sa
from msgspec.structs import replace

from arena.ladder.commands.watch import earlier, watch_ladder
from arena.protocol.record import Record
from arena.server.store import database, schema
from arena.server.store.database import open_store
from arena.server.store.journal.journal import Journal
from arena.server.store.ladders import changes, claimed
from tests.server.matches import record, terms


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 'arena.db'}"


async def write(folder: Path, *records: Record, over: bool = False) -> None:
    """Put finished matches of the event `spring` into the store, which is made where there is none."""
    async with open_store(url(folder)) as engine, anyio.create_task_group() as tasks:
        plan = {"bots": {"anna": "", "bert": ""}}
        async with claimed(engine, "ladder", "spring", "x", plan):
            journal = Journal(engine)
            tasks.start_soon(journal.run)
            for each in records:
                journal.open_match(replace(terms(), match=each.match, event="spring"), each.started)
                await journal.durable(journal.close_match(each))
        if over:
            async with database.exclusive(engine) as connection:
                await connection.execute(sa.update(schema.ladders).values(finished=database.now()))
        tasks.cancel_scope.cancel()


async def test_only_what_is_new_is_read(tmp_path: Path) -> None:
    first, second, third = (record(str(number) * 32, moves=(4, 0)) for number in (1, 2, 3))
    await write(tmp_path, first, second)
    async with open_store(url(tmp_path)) as engine:
        all_of_it = await changes(engine, "spring", "", ())
        assert list(all_of_it.ended) == [first.match, second.match]
        assert not all_of_it.over
        assert all_of_it.plan == {"bots": {"anna": "", "bert": ""}}
        nothing = await changes(engine, "spring", all_of_it.latest, set(all_of_it.ended))
        assert (nothing.ended, nothing.latest) == ({}, all_of_it.latest)
    await write(tmp_path, third, over=True)
    async with open_store(url(tmp_path)) as engine:
        since = earlier(all_of_it.latest, 10)
        more = await changes(engine, "spring", since, set(all_of_it.ended))
        assert list(more.ended.values()) == [third]
        assert more.over
        assert (await changes(engine, "spring", "9999", ())).ended == {}


def test_times_before_times() -> None:
    assert earlier("2026-11-21T00:00:05.250Z", 10) == "2026-11-20T23:59:55.250Z"


def test_each_match_is_shown_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    matches = [record(str(number) * 32, moves=(4, 0)) for number in range(1, 6)]

    anyio.run(write, tmp_path, matches[0])
    with anyio.from_thread.start_blocking_portal() as portal:
        playing = portal.start_task_soon(play_rest, tmp_path, matches[1:])
        watch_ladder(url(tmp_path), None, None, seconds=30)
        playing.result()
    told = capsys.readouterr()
    assert [line.split()[0] for line in told.err.splitlines()] == ["1", "2", "3", "4", "5"]
    [bert] = [line for line in told.out.splitlines() if "bert" in line]
    assert bert.split("|")[3:8] == ["     5 ", "      5 ", "   5 ", "     0 ", "    0 "]


async def play_rest(folder: Path, matches: list[Record]) -> None:
    for number, match in enumerate(matches):
        await write(folder, match, over=number == len(matches) - 1)
