"""The lease of a server on its name: one process writes at a time, and a late one changes nothing."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import anyio
import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.match.events import Opened
from arena.protocol.record import from_line
from arena.server.processes.identity import this_process
from arena.server.store import lease, schema
from arena.server.store.database import open_store
from arena.server.store.journal.batch import Batch, write_batch
from arena.server.store.journal.journal import Journal, JournalFailed
from arena.server.store.journal.reader import events_of
from arena.server.store.journal.recovery import kept_sessions
from arena.server.store.journal.rows import EventRow, Rows
from arena.server.store.journal.writer import open_writer
from arena.server.store.lease import Lease, LeaseLost, NameHeld
from arena.server.store.packing import record_in
from tests.server.journals import playing
from tests.server.matches import record, terms

MATCH = "m" * 32
ELSEWHERE = replace(this_process(), host="elsewhere", place="another machine")


async def taken(engine: AsyncEngine, name: str = "", process: object = ELSEWHERE) -> Lease:
    """The lease of a process of another machine, which will never renew it."""
    async with open_writer(engine) as writer:
        return await writer.write(partial(lease.take, name=name, process=process))  # type: ignore[arg-type]


async def run_out(engine: AsyncEngine) -> None:
    """Let as much time pass for all leases as they last."""
    async with engine.begin() as connection:
        column = schema.servers.c.until
        await connection.execute(sa.update(schema.servers).values(until=column - lease.LEASE_SECONDS))


@asynccontextmanager
async def overtaken(engine: AsyncEngine) -> AsyncIterator[tuple[Journal, list[LeaseLost]]]:
    """A journal with a match in progress, whose name another has taken meanwhile; and what it ended with."""
    lost: list[LeaseLost] = []
    journal = Journal(engine)

    async def run() -> None:
        try:
            await journal.run()
        except LeaseLost as error:
            lost.append(error)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        journal.open_match(terms(), "2026-11-20T12:00:00Z")
        await journal.durable(journal.append(MATCH, 1, 1, Opened()))
        await run_out(engine)
        await taken(engine)
        yield journal, lost
        tasks.cancel_scope.cancel()


async def test_numbers_grow_and_a_stopped_server_leaves_its_name_at_once(database: str) -> None:
    async with open_store(database) as engine:
        for number in (1, 2, 3):
            with anyio.fail_after(2):
                async with playing(engine, "north") as journal:
                    await journal.drain()
                    await journal.durable(journal.keep_session("anna", b"secret"))
                    async with engine.connect() as connection:
                        (row,) = (await connection.execute(sa.select(schema.servers))).all()
                    assert (row.name, row.number, row.pid) == ("north", number, this_process().pid)


async def test_a_name_that_is_held_is_refused_in_one_line_that_says_by_whom(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "RENEWALS", 100)  # it is refused when its holder has renewed it
    async with open_store(database) as engine, playing(engine, "north") as journal:
        await journal.durable(journal.keep_session("anna", b"secret"))
        me = this_process()
        with anyio.fail_after(lease.LEASE_SECONDS), pytest.raises(NameHeld) as refused:
            await Journal(engine, server="north").run()
        known = rf"the server 'north' is running on this store already: on {me.host}, process {me.pid}, since 20\S+Z;"
        assert re.match(known, str(refused.value))
        assert "\n" not in str(refused.value)
        async with playing(engine, "south") as south:  # another name is free
            await south.durable(south.keep_session("anna", b"another"))
        assert await kept_sessions(engine, ["anna"], "north") == {"anna": b"secret"}
        assert await kept_sessions(engine, ["anna"], "south") == {"anna": b"another"}


async def test_the_name_of_a_process_that_is_gone_is_taken_over_at_once(database: str) -> None:
    async with open_store(database) as engine:
        await taken(engine, process=replace(this_process(), started="1"))
        with anyio.fail_after(2):
            async with playing(engine) as journal:
                await journal.durable(journal.keep_session("anna", b"secret"))


async def test_a_name_that_nobody_renews_is_taken_when_the_lease_has_run_out(database: str) -> None:
    async with open_store(database) as engine:
        await taken(engine)
        async with playing(engine) as journal:
            batch = journal.keep_session("anna", b"secret")
            with anyio.move_on_after(1):
                await journal.durable(batch)
            assert not batch.done.is_set()
            await run_out(engine)
            await journal.durable(batch)


async def test_a_lease_of_a_clock_that_has_jumped_is_not_waited_for(database: str) -> None:
    async with open_store(database) as engine:
        old = await taken(engine)
        async with engine.begin() as connection:
            later = schema.servers.c.until + 1e6
            await connection.execute(sa.update(schema.servers).values(until=later))
            row = (await connection.execute(sa.select(schema.servers))).one()
        async with open_writer(engine) as writer:
            with pytest.raises(NameHeld) as held:
                await writer.write(partial(lease.take, name="", process=this_process()))
            assert held.value.left <= lease.LEASE_SECONDS
            expired = row.number, row.renewed
            new = await writer.write(partial(lease.take, name="", process=this_process(), expired=expired))
        assert new.number == old.number + 1


async def test_who_has_been_taken_for_dead_writes_nothing_and_tells_nobody(database: str) -> None:
    told: list[object] = []
    async with open_store(database) as engine, overtaken(engine) as (journal, lost):
        batch = journal.append(MATCH, 2, 2, Opened())
        batch.then.append(told.append)
        journal.open_match(replace(terms(), match="another"), "2026-11-20T12:00:00Z")
        journal.keep_session("anna", b"secret")
        with pytest.raises(JournalFailed):
            await journal.durable(journal.close_match(record(MATCH)))
        with pytest.raises(JournalFailed):
            await journal.durable(journal.append(MATCH, 3, 3, Opened()))
        assert [str(each) for each in lost] == [str(LeaseLost(Lease("", 1)))]
        assert told == []
        assert await events_of(engine, MATCH) == [(1, Opened())]
        async with engine.connect() as connection:
            rows = (await connection.execute(sa.select(schema.matches))).all()
            assert [(row.match, row.finished) for row in rows] == [(MATCH, None)]
            assert not (await connection.execute(sa.select(schema.records))).all()
        assert await kept_sessions(engine, ["anna"]) == {}


async def test_other_work_of_the_journal_is_refused_too_and_ends_it(database: str) -> None:
    async with open_store(database) as engine, overtaken(engine) as (journal, lost):
        with pytest.raises(LeaseLost):
            await journal.write(lambda each: each.execute(sa.update(schema.matches).values(event="changed")))
        with anyio.fail_after(2):
            while not lost:
                await anyio.sleep(0.01)
        async with engine.connect() as connection:
            assert (await connection.execute(sa.select(schema.matches.c.event))).scalar_one() == "test"


async def test_the_database_itself_refuses_an_old_number(database: str) -> None:
    """Each statement alone, without the look at the lease that comes before it."""
    async with open_store(database) as engine:
        async with playing(engine) as journal:
            journal.open_match(terms(), "2026-11-20T12:00:00Z")
            await journal.durable(journal.append(MATCH, 1, 1, Opened()))
        late, current = Lease("", 1), await taken(engine)
        assert current.number == 2
        batch = Batch()
        unfinished = Journal(engine)
        unfinished.open_match(replace(terms(), match="another"), "2026-11-20T12:00:00Z")
        unfinished.keep_session("anna", b"secret")
        unfinished.close_match(record(MATCH))
        batch = unfinished.append(MATCH, 3, 3, Opened())
        batch.rows[:] = [EventRow(3, batch.rows[0].event, MATCH)]
        for holder, kept in ((late, 0), (current, 1)):
            async with engine.begin() as connection:
                await connection.run_sync(
                    lambda each, holder=holder: write_batch(each, batch, Rows(holder), holder)  # type: ignore[misc]
                )
            async with engine.connect() as connection:
                opened = (
                    sa.select(sa.func.count())
                    .select_from(schema.matches)
                    .where(schema.matches.c.match == "another")
                )
                assert (await connection.execute(opened)).scalar_one() == kept
                closed = sa.select(schema.matches.c.finished).where(schema.matches.c.match == MATCH)
                assert ((await connection.execute(closed)).scalar_one() is not None) == bool(kept)
                assert len((await connection.execute(sa.select(schema.records))).all()) == kept
            assert len(await kept_sessions(engine, ["anna"])) == kept
            assert len(await events_of(engine, MATCH)) == 1 + kept


async def test_a_record_that_is_there_is_never_changed(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store(database) as engine, playing(engine) as journal:
        journal.open_match(terms(), "2026-11-20T12:00:00Z")
        first = record(MATCH, winner="maxie")
        for _ in range(2):
            await journal.durable(journal.close_match(first))
        assert caplog.messages == []
        await journal.durable(journal.close_match(record(MATCH, winner="minnie")))
        assert caplog.messages == [f"match {MATCH} has another record in the store, which stays as it is"]
        async with engine.connect() as connection:
            kept = (await connection.execute(sa.select(schema.records.c.packed))).scalar_one()
        assert from_line(record_in(kept)) == first


async def test_a_holder_that_stands_still_in_a_transaction_keeps_its_name_no_longer_than_the_lease(
    postgresql_database: str,
) -> None:
    async with open_store(postgresql_database) as engine, open_writer(engine) as writer:
        old = await taken(engine)
        await run_out(engine)
        async with engine.connect() as still:
            # The same that every connection has, only shorter.
            kept = (await still.execute(sa.text("SHOW idle_in_transaction_session_timeout"))).scalar_one()
            assert kept == f"{lease.LEASE_SECONDS:.0f}s"
            # Longer than a busy machine holds up the next statement.
            await still.execute(sa.text("SET LOCAL idle_in_transaction_session_timeout = '3s'"))
            await still.run_sync(lease.require, old)
            with anyio.fail_after(20):
                new = await writer.write(partial(lease.take, name="", process=this_process()))
            assert new.number == old.number + 1
            with pytest.raises(sa.exc.DBAPIError):
                await still.run_sync(lease.require, old)
            await still.invalidate()
