"""A lease is renewed in time, whoever writes, and by a timer where nobody does."""

from __future__ import annotations

import asyncio

import anyio
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.processes.identity import this_process
from arena.server.store import lease, schema
from arena.server.store.database import open_store
from arena.server.store.journal.journal import Journal
from arena.server.store.journal.renewal import Renewal
from arena.server.store.lease import Lease, LeaseLost


async def until(engine: AsyncEngine, name: str) -> float:
    """How long a lease lasts, in seconds since 1970."""
    async with engine.connect() as connection:
        query = sa.select(schema.servers.c.until).where(schema.servers.c.name == name)
        return float((await connection.execute(query)).scalar_one())


def test_a_transaction_renews_a_lease_that_is_due_and_no_other() -> None:
    engine = sa.create_engine("sqlite://")
    schema.metadata.create_all(engine)
    renewal = Renewal(Lease("north", 0), lambda: None)
    with engine.begin() as connection:
        renewal.lease = lease.take(connection, name="north", process=this_process(), seconds=5)
        lasts = sa.select(schema.servers.c.until)
        connection.execute(sa.update(schema.servers).values(until=0.0))
        due = [renewal.due]
        renewal.require(connection)
        assert connection.execute(lasts).scalar_one() > 0
        connection.execute(sa.update(schema.servers).values(until=0.0))
        due.append(renewal.due)
        renewal.require(connection)
        assert connection.execute(lasts).scalar_one() == 0
        connection.execute(sa.update(schema.servers).values(number=7))
        for _ in range(2):
            due.append(renewal.due)
            with pytest.raises(LeaseLost):
                renewal.require(connection)
            renewal.hasten()
    assert due == [True, False, False, True]
    engine.dispose()


async def test_whoever_renews_is_woken_again_and_again_until_the_end() -> None:
    woken: list[float] = []
    loop = asyncio.get_running_loop()
    renewal = Renewal(Lease("north", 0), lambda: woken.append(loop.time()))
    began = loop.time()
    renewal.begin(Lease("north", 1, seconds=0.06))
    with anyio.fail_after(30):
        while len(woken) < 3:
            await anyio.sleep(0.005)
    renewal.stop()
    assert woken[0] - began >= 0.015
    seen = len(woken)
    await anyio.sleep(0.1)
    assert len(woken) == seen


async def test_a_crowd_of_writers_keeps_a_server_of_an_arena_from_no_renewal(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All that it is given to do takes longer than its lease.
    monkeypatch.setattr("arena.server.store.journal.journal.ARENA_SECONDS", 0.3)
    async with open_store(database) as engine, anyio.create_task_group() as tasks:
        journal = Journal(engine, server="north", arena=True)
        await tasks.start(journal.run)
        first = await until(engine, "north")
        lasted: list[float] = []

        def work(connection: sa.Connection) -> None:
            row = sa.select(schema.servers.c.until, lease.database_time(connection.dialect.name))
            ends, now = connection.execute(row.where(schema.servers.c.name == "north")).one()
            lasted.append(ends - now)

        async def write() -> None:
            while await until(engine, "north") < first + 0.6:
                await journal.write(work)

        async with anyio.create_task_group() as crowd:
            for _ in range(40):
                crowd.start_soon(write)
        tasks.cancel_scope.cancel()
    assert min(lasted) > -0.3
