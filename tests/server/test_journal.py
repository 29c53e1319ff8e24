from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from games.core import Player
from server.events import Event, GotReady, Moved, Opened
from server.journal import Journal, JournalFailed, events_of
from server.store import StoreError, about, make_engine, prepare
from tests.server.matches import terms


@asynccontextmanager
async def open_store(path: Path) -> AsyncIterator[AsyncEngine]:
    engine = make_engine(f"sqlite:///{path / 'test.db'}")
    try:
        await prepare(engine)
        yield engine
    finally:
        await engine.dispose()


async def test_what_is_durable_can_be_read_from_outside(tmp_path: Path) -> None:
    happened: list[tuple[int, Event]] = [
        (5, Opened()),
        (6, GotReady(Player.MAXIE)),
        (9, Moved(Player.MAXIE, 0, [1, 2])),
    ]
    async with open_store(tmp_path) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        tasks.start_soon(journal.run)
        journal.open_match(terms(), "test", "2026-11-20T12:00:00Z")
        for seq, (at, event) in enumerate(happened):
            await journal.durable(journal.append("m" * 32, seq, at, event))
            async with open_store(tmp_path) as other:
                assert await events_of(other, "m" * 32) == happened[: seq + 1]
        tasks.cancel_scope.cancel()


async def test_what_comes_while_a_commit_is_under_way_shares_the_next(tmp_path: Path) -> None:
    async with open_store(tmp_path) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        journal.open_match(terms(), "test", "2026-11-20T12:00:00Z")
        batches = [journal.append("m" * 32, seq, seq, Opened()) for seq in range(50)]
        assert len({id(batch) for batch in batches}) == 1
        tasks.start_soon(journal.run)
        await journal.durable(batches[-1])
        assert len(await events_of(engine, "m" * 32)) == 50
        tasks.cancel_scope.cancel()


async def test_a_batch_that_fails_says_so_and_the_next_goes_on(tmp_path: Path) -> None:
    async with open_store(tmp_path) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        tasks.start_soon(journal.run)
        with pytest.raises(JournalFailed):
            await journal.durable(journal.append("no such match", 0, 0, Opened()))
        journal.open_match(terms(), "test", "2026-11-20T12:00:00Z")
        await journal.durable(journal.append("m" * 32, 0, 0, Opened()))
        tasks.cancel_scope.cancel()


async def test_drain_waits_for_all_that_was_appended(tmp_path: Path) -> None:
    async with open_store(tmp_path) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine)
        tasks.start_soon(journal.run)
        await journal.drain()
        journal.open_match(terms(), "test", "2026-11-20T12:00:00Z")
        journal.append("m" * 32, 0, 0, Opened())
        await journal.drain()
        assert len(await events_of(engine, "m" * 32)) == 1
        tasks.cancel_scope.cancel()


async def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    async with open_store(tmp_path) as engine:
        async with engine.begin() as connection:
            await connection.execute(about.update().values(schema_version=99))
        with pytest.raises(StoreError, match="schema 99"):
            await prepare(engine)


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "test.db").write_text("not a database, whatever its name says" * 50)
    with pytest.raises(StoreError, match="cannot use"):
        async with open_store(tmp_path):
            pass
