"""A store that is away for a while: what was appended waits, and `trouble` says so without asking."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.match.events import Opened
from arena.server.store import lease as lease_module
from arena.server.store.database import open_store
from arena.server.store.journal import journal as journal_module
from arena.server.store.journal.journal import Journal, JournalFailed
from arena.server.store.journal.reader import events_of
from tests.server.databases import Postgresql
from tests.server.matches import record, terms

MATCH = "m" * 32
SLOW = "the store has not answered for 1 s"


@pytest.fixture(autouse=True)
def told_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that does not come is told of after a second."""
    monkeypatch.setattr(journal_module, "SLOW_SECONDS", 1.0)


@asynccontextmanager
async def patient(
    engine: AsyncEngine, seconds: float, answer_seconds: float = 10.0
) -> AsyncIterator[Journal]:
    """A journal that waits so long for its store, and has a match in progress."""
    journal = Journal(engine, patience=seconds, answer_seconds=answer_seconds)
    async with anyio.create_task_group() as tasks:
        await tasks.start(journal.run)
        journal.open_match(terms(), "2026-11-20T12:00:00Z")
        await journal.durable(journal.append(MATCH, 1, 1, Opened()))
        assert journal.trouble() == ""
        yield journal
        tasks.cancel_scope.cancel()


async def trouble(journal: Journal) -> str:
    """What is wrong, as soon as that is known."""
    with anyio.fail_after(15):
        while not journal.trouble():
            await anyio.sleep(0.05)
    return journal.trouble()


async def test_what_was_appended_while_the_database_was_down_is_durable_when_it_is_back(
    own_postgresql: Postgresql,
) -> None:
    url = await asyncio.to_thread(own_postgresql.new_database)
    async with open_store(url) as engine, patient(engine, 30) as journal:
        await asyncio.to_thread(own_postgresql.stop)
        batch = journal.append(MATCH, 2, 2, Opened())
        assert (await trouble(journal)).startswith("the store fails: ")
        assert not batch.done.is_set()
        later = journal.append(MATCH, 3, 3, Opened())
        await asyncio.to_thread(own_postgresql.start)
        with anyio.fail_after(15):
            await journal.durable(batch)
            await journal.durable(later)
            await journal.durable(journal.close_match(record(MATCH)))
        assert journal.trouble() == ""
        assert await events_of(engine, MATCH) == [(seq, Opened()) for seq in (1, 2, 3)]


async def test_nothing_that_was_told_is_lost_or_doubled_when_the_database_is_killed_again_and_again(
    own_postgresql: Postgresql,
) -> None:
    url = await asyncio.to_thread(own_postgresql.new_database)
    told = 1
    async with open_store(url) as engine, patient(engine, 30) as journal, anyio.create_task_group() as tasks:

        async def write() -> None:
            nonlocal told
            while True:
                await journal.durable(journal.append(MATCH, told + 1, told + 1, Opened()))
                told += 1

        tasks.start_soon(write)
        for _ in range(3):
            before = told
            with anyio.fail_after(30):
                while told < before + 5:
                    await anyio.sleep(0.001)
            await asyncio.to_thread(own_postgresql.kill)
            await asyncio.to_thread(own_postgresql.start)
        tasks.cancel_scope.cancel()
    async with open_store(url) as engine:
        found = [at for at, _ in await events_of(engine, MATCH)]
    assert found[:told] == list(range(1, told + 1))
    assert len(found) - told in (0, 1), "the last one may be durable and not have been told yet"


async def test_what_was_appended_while_the_database_stood_still_is_durable_when_it_goes_on(
    own_postgresql: Postgresql,
) -> None:
    url = await asyncio.to_thread(own_postgresql.new_database)
    async with open_store(url) as engine, patient(engine, 30) as journal:
        with own_postgresql.frozen():
            batch = journal.append(MATCH, 2, 2, Opened())
            assert await trouble(journal) == SLOW
            later = journal.append(MATCH, 3, 3, Opened())
            assert not batch.done.is_set()
        with anyio.fail_after(15):
            await journal.durable(batch)
            await journal.durable(later)
        assert journal.trouble() == ""
        assert await events_of(engine, MATCH) == [(seq, Opened()) for seq in (1, 2, 3)]


async def test_patience_ends_also_with_a_database_that_stands_still(own_postgresql: Postgresql) -> None:
    url = await asyncio.to_thread(own_postgresql.new_database)
    async with open_store(url) as engine, patient(engine, 0.5, 0.5) as journal:
        with own_postgresql.frozen():
            batch = journal.append(MATCH, 2, 2, Opened())
            with anyio.fail_after(10), pytest.raises(JournalFailed):
                await journal.durable(batch)
        with anyio.fail_after(30):
            # What was not told is not there; the server goes on under the lease that it has.
            await journal.durable(journal.append(MATCH, 2, 7, Opened()))
        assert await events_of(engine, MATCH) == [(1, Opened()), (7, Opened())]


async def test_that_the_database_is_down_is_known_where_nobody_plays(
    own_postgresql: Postgresql, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_module, "RENEWALS", 33)  # the renewal of the lease finds it out
    url = await asyncio.to_thread(own_postgresql.new_database)
    async with open_store(url) as engine, patient(engine, 0) as journal:
        await asyncio.to_thread(own_postgresql.stop)
        assert (await trouble(journal)).startswith("the store fails: ")


async def test_patience_ends_and_so_does_what_nobody_waits_for(own_postgresql: Postgresql) -> None:
    url = await asyncio.to_thread(own_postgresql.new_database)
    async with open_store(url) as engine:
        for patience in (0.5, 600.0):
            async with patient(engine, patience) as journal:
                await asyncio.to_thread(own_postgresql.stop)
                batch = journal.append(MATCH, 2, 2, Opened())
                with anyio.fail_after(15):
                    try:
                        if patience > 1:
                            await journal.drain()  # the server stops
                        await journal.durable(batch)
                    except JournalFailed:
                        pass
                    else:
                        raise AssertionError("it cannot be durable")
                await asyncio.to_thread(own_postgresql.start)
            async with engine.begin() as connection:
                await connection.execute(sa.text("DELETE FROM events"))
                await connection.execute(sa.text("DELETE FROM matches"))


async def test_a_store_that_does_not_answer_is_in_trouble_until_it_does(postgresql_database: str) -> None:
    async with open_store(postgresql_database) as engine, patient(engine, 30) as journal:
        async with engine.begin() as connection:
            await connection.execute(sa.text("LOCK TABLE servers IN ACCESS EXCLUSIVE MODE"))
            batch = journal.append(MATCH, 2, 2, Opened())
            assert await trouble(journal) == SLOW
        with anyio.fail_after(5):
            await journal.durable(batch)
        assert journal.trouble() == ""


async def test_what_was_appended_while_the_disk_was_full_is_durable_afterwards(tmp_path: Path) -> None:
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine, patient(engine, 30) as journal:
        with no_space():
            batch = journal.append(MATCH, 2, 2, Opened())
            assert (await trouble(journal)).startswith("the store fails: ")
            assert not batch.done.is_set()
        with anyio.fail_after(5):
            await journal.durable(batch)
        assert journal.trouble() == ""
        assert await events_of(engine, MATCH) == [(1, Opened()), (2, Opened())]


@contextmanager
def no_space() -> Iterator[None]:
    """No file of this process may grow beyond a page."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
