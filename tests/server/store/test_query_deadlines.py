"""Deadlines of queries: the database itself stops a query that takes too long."""

from __future__ import annotations

import threading
from time import monotonic

import anyio
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store.database import open_query_connection

ENDLESS = sa.text(
    "WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted) SELECT sum(n) FROM counted"
)


async def run_endless_query(engine: AsyncEngine, seconds: float) -> None:
    with anyio.fail_after(seconds):
        async with open_query_connection(engine) as connection:
            await connection.execute(ENDLESS)


async def test_a_query_is_cancelled_at_its_deadline_and_connections_stay_usable(
    engine: AsyncEngine,
) -> None:
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(expect_timeout, engine)
    threads, connections = threading.active_count(), engine.pool.status()
    for _ in range(3):
        await expect_timeout(engine)
    assert threading.active_count() == threads
    assert engine.pool.status() == connections
    # The connections stay usable, with no deadline left over from an earlier query.
    with anyio.fail_after(500):
        async with open_query_connection(engine) as connection:
            assert (await connection.execute(sa.text("SELECT 1"))).scalar_one() == 1
    async with open_query_connection(engine) as connection:
        assert (await connection.execute(sa.text("SELECT 1"))).scalar_one() == 1


async def expect_timeout(engine: AsyncEngine) -> None:
    began = monotonic()
    with pytest.raises(TimeoutError):
        await run_endless_query(engine, 0.05)
    assert monotonic() - began < 150


async def test_an_error_in_a_query_is_raised_unchanged(engine: AsyncEngine) -> None:
    with pytest.raises(sa.exc.DBAPIError), anyio.fail_after(500):
        async with open_query_connection(engine) as connection:
            await connection.execute(sa.text("SELECT nothing FROM nowhere"))
