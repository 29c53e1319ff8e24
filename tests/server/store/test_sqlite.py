from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
import sqlalchemy as sa

from arena.server.store import schema
from arena.server.store.database import blocking_twin, make_engine, open_store
from arena.server.store.sqlite import begin, ending, execute_each, execute_many, first_row, has_begun


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
        first_row(connection, "CREATE TABLE numbers (n INTEGER PRIMARY KEY)")
        assert begin(connection)
        with ending(connection):
            execute_many(connection, insert, [(1,)])
        assert begin(connection)
        with pytest.raises(sa.exc.IntegrityError), ending(connection):
            execute_many(connection, insert, [(2,), (1,)])
        assert not has_begun(connection)
        assert first_row(connection, "SELECT count(*), sum(n) FROM numbers") == (1, 1)
    twin.dispose()


def test_who_waits_for_nobody_begins_nothing_beside_whoever_writes(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    twin = blocking_twin(make_engine(f"sqlite:///{file}"))
    with twin.connect() as connection, contextlib.closing(sqlite3.connect(file)) as other:
        usual = first_row(connection, "PRAGMA busy_timeout")
        other.execute("BEGIN IMMEDIATE")
        assert not begin(connection, wait=False)
        assert not has_begun(connection)
        other.execute("COMMIT")
        assert begin(connection, wait=False)
        # SQLAlchemy goes on with what has begun, and ends it.
        with connection.begin():
            connection.exec_driver_sql("CREATE TABLE numbers (n INTEGER PRIMARY KEY)")
        assert not has_begun(connection)
        assert first_row(connection, "PRAGMA busy_timeout") == usual
        assert other.execute("SELECT count(*) FROM numbers").fetchone() == (0,)
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


async def test_a_lasting_statement_changes_the_same_on_both_ways(database: str) -> None:
    """Through the engine's own connection, and through one whose calls block."""
    about = sa.update(schema.about).where(schema.about.c.schema_version > sa.bindparam("least"))
    statement = about.values(program=sa.func.coalesce(sa.bindparam("told"), sa.bindparam("usual", "nobody")))
    async with open_store(database) as engine:
        for told, kept in (("somebody", "somebody"), (None, "nobody")):
            rows = [{"told": told, "least": least, "more": 1} for least in (0, 10_000)]
            if engine.dialect.name == "sqlite":
                twin = blocking_twin(engine)
                with twin.begin() as blocking:
                    assert execute_each(blocking, statement, rows) == 1
                twin.dispose()
            async with engine.begin() as connection:
                if engine.dialect.name != "sqlite":
                    plain = [{name: row[name] for name in ("told", "least")} for row in rows]
                    await connection.run_sync(execute_each, statement, plain)
                assert (await connection.execute(sa.select(schema.about.c.program))).scalar_one() == kept
