from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from anyio.lowlevel import checkpoint
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.processes.identity import PROGRAM
from arena.server.store import migrations, schema, sqlite, tokens
from arena.server.store.aggregates.counting import refresh
from arena.server.store.database import (
    PASSWORD_FILE,
    StoreError,
    blocking_twin,
    exclusive,
    insert_or_update,
    keep_others_out,
    make_engine,
    may_pass,
    open_store,
    patient_twin,
    prepare,
)
from arena.server.store.journal.journal import Journal
from tests.server.databases import Postgresql


def _differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"compare_server_default": False})
    return list(compare_metadata(context, schema.metadata))


@asynccontextmanager
async def closing(*engines: AsyncEngine) -> AsyncIterator[AsyncEngine]:
    """Disposes of engines however the test ends; gives the first."""
    try:
        yield engines[0]
    finally:
        for engine in engines:
            await engine.dispose()


async def test_an_empty_database_gets_the_tables_that_the_program_knows(database: str) -> None:
    async with open_store(database) as engine, engine.connect() as connection:
        assert await connection.run_sync(_differences) == []
        assert await connection.run_sync(migrations.version_of) == migrations.SCHEMA_VERSION


def _by_migrations(connection: Connection) -> None:
    """What a store has that began with the first version, and was brought up to date since."""
    migrations.upgrade(connection, 1)
    migrations.upgrade(connection)


def _described(connection: Connection) -> dict[str, Any]:
    """All that a database tells of its tables and sequences.

    The order of columns is nobody's business, and neither is what PostgreSQL calls a primary key: it keeps the name
    that a table had before it was renamed.
    """
    inspector = sa.inspect(connection)

    def told(parts: Iterable[Any]) -> list[str]:
        return sorted(str({key: text(part[key]) for key in sorted(part)}) for part in parts)

    def text(value: Any) -> str:
        # the condition of an index is an object that is equal to itself alone
        return str({key: str(value[key]) for key in sorted(value)} if isinstance(value, dict) else value)

    tables = {
        name: {
            "columns": told(inspector.get_columns(name)),
            "primary key": inspector.get_pk_constraint(name)["constrained_columns"],
            "foreign keys": told(inspector.get_foreign_keys(name)),
            "unique": told(inspector.get_unique_constraints(name)),
            "indices": told(inspector.get_indexes(name)),
        }
        for name in inspector.get_table_names()
    }
    sequences = inspector.get_sequence_names() if connection.dialect.name == "postgresql" else []
    return {"tables": tables, "sequences": sorted(sequences)}


def _emptied(connection: Connection) -> None:
    found = sa.MetaData()
    found.reflect(connection)
    found.drop_all(connection)
    if connection.dialect.name == "postgresql":
        connection.execute(sa.schema.DropSequence(schema.ARRIVAL))


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


async def test_a_new_store_is_what_the_first_one_has_become(database: str) -> None:
    ways: list[Callable[[Connection], None]] = [migrations.upgrade, _by_migrations]
    found: list[dict[str, Any]] = []
    async with closing(make_engine(database)) as engine, exclusive(engine) as connection:
        for make in ways:
            assert await connection.run_sync(migrations.version_of) is None
            await connection.run_sync(make)
            assert await connection.run_sync(_revision) == f"{migrations.SCHEMA_VERSION:04}"
            [row] = (await connection.execute(sa.select(schema.about))).all()
            assert tuple(row) == (migrations.SCHEMA_VERSION, PROGRAM)
            found.append(await connection.run_sync(_described))
            await connection.run_sync(_emptied)
    assert found[0] == found[1]
    assert found[0]["tables"].keys() >= schema.metadata.tables.keys()


async def test_the_last_migration_is_the_version_that_the_program_names(database: str) -> None:
    async with open_store(database) as engine, engine.connect() as connection:
        config = await connection.run_sync(migrations.configuration)
        assert ScriptDirectory.from_config(config).get_heads() == [f"{migrations.SCHEMA_VERSION:04}"]


async def test_servers_that_start_at_once_on_an_empty_database_all_get_it(database: str) -> None:
    engines = [make_engine(database) for _ in range(4)]
    async with closing(*engines):
        async with anyio.create_task_group() as tasks:
            for engine in engines:
                tasks.start_soon(prepare, engine)
        for engine in engines:
            async with engine.connect() as connection:
                assert (
                    await connection.execute(sa.select(schema.about.c.schema_version))
                ).scalars().all() == [migrations.SCHEMA_VERSION]


async def test_a_server_of_an_arena_has_longer_for_its_tables_than_for_what_others_wait_for(
    postgresql_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def timeout(connection: Connection) -> str:
        return str(connection.exec_driver_sql("SHOW idle_in_transaction_session_timeout").scalar_one())

    seen: list[str] = []
    monkeypatch.setattr(migrations, "upgrade", lambda connection: seen.append(timeout(connection)))
    async with closing(make_engine(postgresql_database, arena=True)) as engine:
        await prepare(engine)
        async with engine.connect() as connection:
            seen.append(await connection.run_sync(timeout))
    assert seen == ["10s", "1500ms"]


@pytest.mark.parametrize("version", [0, migrations.SCHEMA_VERSION + 1, 99])
async def test_a_store_of_another_version_is_refused_in_one_line_and_left_alone(
    database: str, version: int
) -> None:
    async with closing(make_engine(database)) as engine:
        await prepare(engine)
        async with engine.begin() as connection:
            await connection.execute(schema.about.update().values(schema_version=version, program="arena 99"))
        with pytest.raises(StoreError) as refused:
            await prepare(engine)
        known = f"this is {PROGRAM}, which knows schemas up to {migrations.SCHEMA_VERSION}: use a version that knows it"
        assert f": it has schema {version}, written by arena 99, and {known}" in str(refused.value)
        assert "\n" not in str(refused.value)
        async with engine.connect() as connection:
            assert (await connection.execute(sa.select(schema.about.c.schema_version))).scalar() == version


async def test_a_database_of_somebody_else_is_refused_and_left_alone(database: str) -> None:
    async with closing(make_engine(database)) as engine:
        async with engine.begin() as connection:
            await connection.execute(sa.text("CREATE TABLE cats (name VARCHAR(9))"))
        with pytest.raises(StoreError, match="something else: the tables cats"):
            await prepare(engine)
        async with engine.connect() as connection:
            names = await connection.run_sync(lambda each: sa.inspect(each).get_table_names())
            assert names == ["cats"]


async def test_a_migration_that_fails_half_way_leaves_the_database_as_it_was(database: str) -> None:
    async with closing(make_engine(database)) as engine:
        async with engine.begin() as connection:
            # The name of an index that the migration makes after some of its tables.
            await connection.execute(sa.text("CREATE TABLE ix_rating_steps_bot (name VARCHAR(9))"))

        async with engine.connect() as connection:
            with pytest.raises(sa.exc.DBAPIError):
                await connection.run_sync(_upgrade_beside_what_is_there)
            await connection.rollback()
            names = await connection.run_sync(lambda each: sa.inspect(each).get_table_names())
            assert names == ["ix_rating_steps_bot"]


def _upgrade_beside_what_is_there(connection: Connection) -> None:
    keep_others_out(connection)
    command.upgrade(migrations.configuration(connection), "head")


async def test_exclusive_transactions_follow_each_other(database: str) -> None:
    engines = [make_engine(database) for _ in range(3)]
    async with closing(*engines):
        await prepare(engines[0])

        async def count(engine: AsyncEngine) -> None:
            for _ in range(5):
                async with exclusive(engine) as connection:
                    seen = (await connection.execute(sa.select(schema.about.c.schema_version))).scalar_one()
                    await connection.execute(schema.about.update().values(schema_version=seen + 1))

        async with anyio.create_task_group() as tasks:
            for engine in engines:
                tasks.start_soon(count, engine)
        async with engines[0].connect() as connection:
            found = (await connection.execute(sa.select(schema.about.c.schema_version))).scalar()
            assert found == migrations.SCHEMA_VERSION + 15


@pytest.mark.parametrize("turns", range(0, 24, 3))
async def test_a_query_whose_task_is_cancelled_ends_and_leaves_nothing(database: str, turns: int) -> None:
    async with open_store(database) as engine:
        for work in (tokens.find(engine, "anna"), refresh(engine), Journal(engine).run()):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_awaited, work)
                for _ in range(turns):
                    await checkpoint()
                tasks.cancel_scope.cancel()
        assert engine.pool.checkedout() == 0  # type: ignore[attr-defined]


async def _awaited(work: Awaitable[object]) -> None:
    await work


async def test_a_patient_twin_is_of_the_same_database(database: str) -> None:
    async with closing(make_engine(database)) as engine:
        await prepare(engine)
        async with closing(patient_twin(engine)) as twin:
            async with twin.begin() as connection:
                await connection.execute(schema.about.update().values(program="a twin"))
            async with engine.connect() as connection:
                found = (await connection.execute(sa.select(schema.about.c.program))).scalar_one()
            assert found == "a twin"


async def test_insert_or_update_changes_the_rows_that_are_there(database: str) -> None:
    async with open_store(database) as engine:
        change = insert_or_update(engine.dialect.name, schema.sessions)
        for rows in (["a"], ["b", "a"]):
            async with engine.begin() as connection:
                values = [{"server": "", "name": name, "hash": f"{name} of {len(rows)}"} for name in rows]
                await connection.execute(change, values)
        async with engine.connect() as connection:
            found = (await connection.execute(sa.select(schema.sessions))).all()
        assert sorted(map(tuple, found)) == [("", "a", "a of 2"), ("", "b", "b of 2")]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("postgresql://arena@127.0.0.1:1/arena", "cannot use postgresql"),
        ("postgresql://arena:secret@127.0.0.1:1/arena?sslmode=require", "arena:\\*\\*\\*@"),
        ("postgresql://arena@/x?host=/nowhere/at/all", "cannot use"),
        ("postgresql://arena@x/y?colour=red", "no option 'colour'"),
        ("postgresql://arena:secret@host:port/y", "//….* is no database URL"),
        ("postgresql//arena:secret@host/y", "//….* is no database URL"),
        ("postgresql:arena:secret@host/y", "is no database URL"),
        ("postgresql://arena@127.0.0.1/y?port=many", "no database URL: .*non-integer port"),
    ],
)
async def test_a_postgresql_that_cannot_be_reached_is_said_in_one_line(url: str, why: str) -> None:
    with pytest.raises(StoreError, match=why) as refused:
        async with open_store(url):
            pass
    assert "\n" not in str(refused.value)
    assert "secret" not in str(refused.value)


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "test.db").write_text("not a database, whatever its name says" * 50)
    with pytest.raises(StoreError, match=r"cannot use .*not a database"):
        async with open_store(f"sqlite:///{tmp_path / 'test.db'}"):
            pass


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_store_in_memory_is_refused(url: str) -> None:
    with pytest.raises(StoreError, match="must be a file"):
        make_engine(url)


async def test_a_database_that_is_not_there_is_said_in_one_line(postgresql: Postgresql) -> None:
    with pytest.raises(StoreError, match='database "nothere" does not exist'):
        async with open_store(f"postgresql://arena@/nothere?host={postgresql.folder}"):
            pass


def test_the_password_of_a_url_without_one_comes_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "password"
    secret.write_text("p@ss/word\n")
    monkeypatch.setenv(PASSWORD_FILE, str(secret))
    assert make_engine("postgresql://arena@db/arena").url.password == "p@ss/word"
    assert make_engine("postgresql://arena:own@db/arena").url.password == "own"
    secret.unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        make_engine("postgresql://arena@db/arena")


async def test_a_blocking_transaction_has_the_file_for_itself_from_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "WAIT", sqlite.NO_WAIT)
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine:
        twin, other = blocking_twin(engine), blocking_twin(engine)
        try:
            with twin.begin(), other.connect() as second:
                with pytest.raises(sa.exc.OperationalError, match="locked") as refused:
                    second.begin()
                assert may_pass(refused.value)
        finally:
            twin.dispose()
            other.dispose()


async def test_who_keeps_a_file_locked_is_to_be_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "LOCKED_SECONDS", 0)
    monkeypatch.setattr(sqlite, "WAIT", sqlite.NO_WAIT)
    url = f"sqlite:///{tmp_path / 'arena.db'}"
    async with open_store(url):
        pass
    with ExitStack() as stack:
        standing = sqlite3.connect(tmp_path / "arena.db", isolation_level=None)
        stack.callback(standing.close)
        standing.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"locked for 0 s, in the middle of a change; .*`fuser FILE`"):
            async with open_store(url):
                pass


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


async def test_nobody_else_may_read_a_store_and_its_logs(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine:
            await tokens.create(engine, "anna", "bot")
            assert modes(tmp_path) == {"arena.db": 0o600, "arena.db-wal": 0o600, "arena.db-shm": 0o600}
    finally:
        os.umask(before)
    assert modes(tmp_path) == {"arena.db": 0o600}


async def test_who_may_read_a_store_that_is_there_is_left_to_its_host(tmp_path: Path) -> None:
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}"):
        pass
    (tmp_path / "arena.db").chmod(0o640)
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine:
        await tokens.create(engine, "anna", "bot")
        assert set(modes(tmp_path).values()) == {0o640}
