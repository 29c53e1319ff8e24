from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
import sqlalchemy as sa

from server.store.database import blocking_twin, make_engine, open_store
from server.store.sqlite import execute_many, first_row, transaction


async def test_a_statement_of_the_drivers_finds_and_writes_the_same_on_both_ways(database: str) -> None:
    """Through the engine's own connection, and through one whose calls block."""
    async with open_store(database) as engine:
        if engine.dialect.name != "sqlite":
            async with engine.begin() as connection:
                assert await connection.run_sync(lambda each: first_row(each, "SELECT 1 + $1::int", [2])) == (
                    3,
                )
            return
        twin = blocking_twin(engine)
        try:
            with twin.begin() as blocking:
                assert first_row(blocking, "SELECT 1 + ?", [2]) == (3,)
                assert first_row(blocking, "SELECT 1 WHERE 0") is None
                execute_many(blocking, "CREATE TABLE numbers (n INTEGER PRIMARY KEY)", [()])
                execute_many(blocking, "INSERT INTO numbers VALUES (?)", [(n,) for n in range(5)])
            async with engine.begin() as connection:
                found = await connection.run_sync(
                    lambda each: first_row(each, "SELECT sum(n) FROM numbers", [])
                )
                assert found == (10,)
            with pytest.raises(sa.exc.IntegrityError), twin.begin() as blocking:
                execute_many(blocking, "INSERT INTO numbers VALUES (?)", [(7,), (1,)])
            with pytest.raises(sa.exc.OperationalError, match="no such table"), twin.begin() as blocking:
                first_row(blocking, "SELECT * FROM nowhere")
            with twin.begin() as blocking:
                assert first_row(blocking, "SELECT count(*) FROM numbers") == (5,)
        finally:
            twin.dispose()


def test_a_transaction_of_the_driver_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    file, insert = tmp_path / "a.db", "INSERT INTO numbers VALUES (?)"
    twin = blocking_twin(make_engine(f"sqlite:///{file}"))
    with twin.connect() as connection:
        first_row(connection, "PRAGMA busy_timeout=0")
        first_row(connection, "CREATE TABLE numbers (n INTEGER PRIMARY KEY)")
        with transaction(connection):
            execute_many(connection, insert, [(1,)])
        with pytest.raises(sa.exc.IntegrityError), transaction(connection):
            execute_many(connection, insert, [(2,), (1,)])
        with contextlib.closing(sqlite3.connect(file)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(sa.exc.OperationalError, match="locked"), transaction(connection):
                raise AssertionError("it has begun")
        assert first_row(connection, "SELECT count(*), sum(n) FROM numbers") == (1, 1)
    twin.dispose()


async def test_who_finds_an_empty_file_in_anothers_hands_waits_for_it(tmp_path: Path) -> None:
    """SQLite itself refuses the change to a write-ahead log at once then, whatever its timeout."""
    file = tmp_path / "arena.db"
    modes: list[str] = []

    async def connect() -> None:
        async with engine.connect() as connection:
            modes.append((await connection.exec_driver_sql("PRAGMA journal_mode")).scalar_one())

    def connect_blocking() -> None:
        twin = blocking_twin(engine)
        with twin.connect() as connection:
            modes.append(connection.exec_driver_sql("PRAGMA journal_mode").scalar_one())
        twin.dispose()

    engine = make_engine(f"sqlite:///{file}")
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connect)
            tasks.start_soon(anyio.to_thread.run_sync, connect_blocking)
            await anyio.sleep(0.1)
            assert modes == []
            other.execute("COMMIT")
    await engine.dispose()
    assert modes == ["wal", "wal"]
