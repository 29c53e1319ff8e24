from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa
from anyio.lowlevel import checkpoint
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.processes.identity import PROGRAM_NAME_AND_VERSION
from arena.server.store import migrations, schema, tokens
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.database import (
    CORE_DATABASE_TIMEOUTS,
    DATABASE_PASSWORD_FILE_ENV_VARIABLE,
    EDGE_DATABASE_TIMEOUTS,
    create_or_migrate_store,
    make_engine,
    make_upsert,
    open_exclusive_transaction,
    open_store,
    run_periodically,
)
from arena.server.store.errors import StoreError
from arena.server.store.journal.journal import open_journal
from arena.server.store.lease import LeaseHeld
from arena.server.web.routes import ROUTES
from tests.hurried_clock import HurriedClock
from tests.server.databases import Postgresql


@asynccontextmanager
async def closing(*engines: AsyncEngine) -> AsyncIterator[AsyncEngine]:
    """Yield the first engine, and close all engines at the end of the `with` block."""
    try:
        yield engines[0]
    finally:
        for engine in engines:
            await engine.dispose()


async def read_version(engine: AsyncEngine) -> int:
    """Return the schema version that a store says it has."""
    async with engine.connect() as connection:
        version: int = (await connection.execute(sa.select(schema.about.c.schema_version))).scalar_one()
    return version


async def list_token_columns(engine: AsyncEngine) -> list[str]:
    """Return the names of the columns of the table `tokens`."""
    async with engine.connect() as connection:
        columns = await connection.run_sync(lambda each: sa.inspect(each).get_columns("tokens"))
    return [each["name"] for each in columns]


async def test_an_empty_database_gets_all_tables_and_indices(engine: AsyncEngine) -> None:
    async with engine.connect() as connection:
        found = sa.MetaData()
        await connection.run_sync(found.reflect)
        for name, table in schema.metadata.tables.items():
            assert found.tables[name].columns.keys() == table.columns.keys()
            assert {each.name for each in found.tables[name].indexes} == {each.name for each in table.indexes}
        [row] = (await connection.execute(sa.select(schema.about))).all()
        assert tuple(row) == (migrations.SCHEMA_VERSION, PROGRAM_NAME_AND_VERSION)


async def test_a_store_of_an_older_version_is_migrated_step_by_step(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with closing(make_engine(database)) as engine:
        await create_or_migrate_store(engine)
        then = migrations.SCHEMA_VERSION + 2
        for version in (then - 2, then - 1):
            step = partial(_add_column, name=f"new_{version}")
            monkeypatch.setitem(migrations.MIGRATION_BY_VERSION, version, step)
        async with open_journal(engine, "north"):
            monkeypatch.setattr(migrations, "SCHEMA_VERSION", then)
            with pytest.raises(LeaseHeld):
                await create_or_migrate_store(engine)
        for _ in range(2):
            await create_or_migrate_store(engine)
        assert (await list_token_columns(engine))[-2:] == [f"new_{then - 2}", f"new_{then - 1}"]
        assert await read_version(engine) == then


def _add_column(connection: Connection, name: str) -> None:
    connection.exec_driver_sql(f"ALTER TABLE tokens ADD COLUMN {name} INTEGER")


async def test_a_failed_migration_changes_nothing(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(connection: Connection) -> None:
        _add_column(connection, "half")
        connection.exec_driver_sql("ALTER TABLE nothing ADD COLUMN more INTEGER")

    async with closing(make_engine(database)) as engine:
        await create_or_migrate_store(engine)
        before = migrations.SCHEMA_VERSION
        monkeypatch.setattr(migrations, "SCHEMA_VERSION", before + 1)
        monkeypatch.setitem(migrations.MIGRATION_BY_VERSION, before, fails)
        with pytest.raises(StoreError):
            await create_or_migrate_store(engine)
        assert "half" not in await list_token_columns(engine)
        assert await read_version(engine) == before


async def test_servers_that_start_at_once_on_an_empty_database_all_open_it(database: str) -> None:
    engines = [make_engine(database) for _ in range(4)]
    async with closing(*engines):
        async with anyio.create_task_group() as tasks:
            for engine in engines:
                tasks.start_soon(create_or_migrate_store, engine)
        for engine in engines:
            assert await read_version(engine) == migrations.SCHEMA_VERSION


async def test_a_store_of_this_version_opens_without_waiting_for_a_long_transaction(database: str) -> None:
    """The transaction may belong to a frozen server, whose standby must be able to take over."""
    async with open_store(database) as engine, open_exclusive_transaction(engine) as connection:
        if engine.dialect.name == "postgresql":
            await connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
        async with open_store(database):  # if it waited for the lock, it would fail
            pass


async def test_the_creation_of_tables_has_a_longer_time_limit_than_other_transactions(
    postgresql_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def timeout(connection: Connection) -> str:
        return str(connection.exec_driver_sql("SHOW idle_in_transaction_session_timeout").scalar_one())

    seen: list[str] = []
    monkeypatch.setattr(migrations, "create_tables", lambda connection: seen.append(timeout(connection)))
    async with closing(make_engine(postgresql_database, timeouts=CORE_DATABASE_TIMEOUTS)) as engine:
        await create_or_migrate_store(engine)
        async with engine.connect() as connection:
            seen.append(await connection.run_sync(timeout))
    assert seen == ["10s", "1500ms"]


def test_commands_of_an_edge_have_the_time_limit_of_the_post_routes() -> None:
    assert {route.timeout_seconds for route in ROUTES.values() if route.is_post} == {
        EDGE_DATABASE_TIMEOUTS.command_seconds
    }


@pytest.mark.parametrize("version", [0, migrations.SCHEMA_VERSION + 1, 99])
async def test_a_store_of_another_version_is_refused_in_one_line_and_unchanged(
    database: str, version: int
) -> None:
    async with closing(make_engine(database)) as engine:
        await create_or_migrate_store(engine)
        async with engine.begin() as connection:
            await connection.execute(schema.about.update().values(schema_version=version, program="arena 99"))
        with pytest.raises(StoreError) as refused:
            await create_or_migrate_store(engine)
        known = f"{PROGRAM_NAME_AND_VERSION} needs schema {migrations.SCHEMA_VERSION}: use a version that knows schema {version}"
        assert f": it has schema {version}, written by arena 99, but {known}" in str(refused.value)
        assert "\n" not in str(refused.value)
        assert await read_version(engine) == version


async def test_a_database_of_another_program_is_refused_and_unchanged(database: str) -> None:
    async with closing(make_engine(database)) as engine:
        async with engine.begin() as connection:
            await connection.execute(sa.text("CREATE TABLE cats (name VARCHAR(9))"))
        with pytest.raises(StoreError, match="it is not a server's database, but has the tables cats"):
            await create_or_migrate_store(engine)
        async with engine.connect() as connection:
            names = await connection.run_sync(lambda each: sa.inspect(each).get_table_names())
            assert names == ["cats"]


async def test_exclusive_transactions_run_one_after_another(database: str) -> None:
    engines = [make_engine(database) for _ in range(3)]
    async with closing(*engines):
        await create_or_migrate_store(engines[0])

        async def count(engine: AsyncEngine) -> None:
            for _ in range(5):
                async with open_exclusive_transaction(engine) as connection:
                    seen = (await connection.execute(sa.select(schema.about.c.schema_version))).scalar_one()
                    await connection.execute(schema.about.update().values(schema_version=seen + 1))

        async with anyio.create_task_group() as tasks:
            for engine in engines:
                tasks.start_soon(count, engine)
        assert await read_version(engines[0]) == migrations.SCHEMA_VERSION + 15


@pytest.mark.parametrize("turns", range(0, 24, 3))
async def test_a_cancelled_query_leaves_no_task_or_connection(engine: AsyncEngine, turns: int) -> None:
    for work in (
        tokens.find_token(engine, "anna"),
        add_new_matches_to_aggregates(engine),
        _commit_nothing(engine),
    ):
        await engine.dispose()  # each operation begins with a new connection
        before = asyncio.all_tasks()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_await, work)
            for _ in range(turns):
                await checkpoint()
            tasks.cancel_scope.cancel()
        # A further task would close the connection in the background; without one, nobody would close it.
        assert asyncio.all_tasks() == before
    assert engine.pool.checkedout() == 0  # type: ignore[attr-defined]


async def _commit_nothing(engine: AsyncEngine) -> None:
    async with open_journal(engine) as journal:
        await journal.commit([])


async def _await(work: Awaitable[object]) -> None:
    await work


async def test_an_upsert_inserts_new_rows_and_updates_existing_ones(engine: AsyncEngine) -> None:
    change = make_upsert(engine.dialect.name, schema.sessions)
    for rows in (["a"], ["b", "a"]):
        async with engine.begin() as connection:
            values = [
                {"server": "", "name": name, "hash": f"{name} of {len(rows)}", "since": 0} for name in rows
            ]
            await connection.execute(change, values)
    async with engine.connect() as connection:
        found = (await connection.execute(sa.select(schema.sessions))).all()
    assert sorted(map(tuple, found)) == [("", "a", "a of 2", 0), ("", "b", "b of 2", 0)]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("postgresql://arena@127.0.0.1:1/arena", "arena: the database does not answer: check"),
        ("postgresql://arena:secret@127.0.0.1:1/arena?sslmode=require", "arena:\\*\\*\\*@"),
        ("postgresql://arena@/x?host=/nowhere/at/all", "cannot use .*: the database does not answer: check"),
        ("postgresql://arena@x/y?colour=red", "unsupported option 'colour'"),
        ("postgresql://arena:secret@host:port/y", "//….* is not a database URL"),
        ("postgresql//arena:secret@host/y", "//….* is not a database URL"),
        ("postgresql:arena:secret@host/y", "is not a database URL"),
        ("postgresql://arena@127.0.0.1/y?port=many", "not a database URL: .*non-integer port"),
        ("nonsense", "not a database URL"),
        ("mysql://x/y", "unsupported kind of database"),
        ("sqlite:////no/x.db", "does not exist"),
        ("sqlite://", "the store cannot be in memory"),
        ("sqlite:///:memory:", "the store cannot be in memory"),
    ],
)
async def test_an_invalid_or_unreachable_url_is_reported_in_one_line(url: str, why: str) -> None:
    with pytest.raises(StoreError, match=why) as refused:
        async with open_store(url):
            pass
    assert "\n" not in str(refused.value)
    assert "secret" not in str(refused.value)


async def test_a_missing_database_is_reported_in_one_line(postgresql: Postgresql) -> None:
    with pytest.raises(StoreError, match=': database "nothere" does not exist: create it with `createdb`'):
        async with open_store(f"postgresql://arena@/nothere?host={postgresql.folder}"):
            pass


async def test_an_error_shows_the_url_as_it_was_given(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/arena.db"
    (tmp_path / "arena.db").write_text("no database " * 100)
    with pytest.raises(
        StoreError, match=rf"^cannot use {url}: the file is not a database: name another file$"
    ):
        async with open_store(url):
            pass


async def test_a_damaged_file_is_reported_with_the_remedy(tmp_path: Path) -> None:
    file = tmp_path / "arena.db"
    async with open_store(f"sqlite:///{file}"):
        pass
    data = bytearray(file.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    file.write_bytes(data)
    with pytest.raises(
        StoreError, match=r"the file is damaged: restore an intact backup with `arena restore`$"
    ):
        async with open_store(f"sqlite:///{file}") as engine, engine.connect() as connection:
            await connection.execute(sa.select(schema.tokens))


def test_the_password_of_a_url_without_one_comes_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "password"
    secret.write_text("p@ss/word\n")
    monkeypatch.setenv(DATABASE_PASSWORD_FILE_ENV_VARIABLE, str(secret))
    assert make_engine("postgresql://arena@db/arena").url.password == "p@ss/word"
    assert make_engine("postgresql://arena:own@db/arena").url.password == "own"
    secret.unlink()
    with pytest.raises(StoreError, match=r"cannot be read: No such file or directory$"):
        make_engine("postgresql://arena@db/arena")


def read_modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


async def test_only_the_owner_may_read_a_new_store_and_its_logs(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine:
            await tokens.create_token(engine, "anna", "bot")
            assert read_modes(tmp_path) == {"arena.db": 0o600, "arena.db-wal": 0o600, "arena.db-shm": 0o600}
    finally:
        os.umask(before)
    assert read_modes(tmp_path) == {"arena.db": 0o600}


async def test_the_permissions_of_an_existing_store_are_kept(tmp_path: Path) -> None:
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}"):
        pass
    (tmp_path / "arena.db").chmod(0o640)
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine:
        await tokens.create_token(engine, "anna", "bot")
        assert set(read_modes(tmp_path).values()) == {0o640}


async def test_a_job_is_repeated_and_each_outage_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    outcomes = iter(
        [None, OSError("away"), OSError("away"), None, sqlite3.OperationalError("again"), KeyError]
    )

    async def job() -> None:
        if (outcome := next(outcomes)) is not None:
            raise outcome

    clock = HurriedClock()
    async with closing(make_engine(f"sqlite:///{tmp_path / 'arena.db'}")) as engine:
        with pytest.raises(KeyError):  # any other error ends the job
            await run_periodically(engine, clock, job, 7.0, "nothing can be done now")
    assert [line.partition(": ")[0] for line in caplog.messages] == ["nothing can be done now"] * 2
    assert [line.rpartition(": ")[2] for line in caplog.messages] == ["away", "again"]
    assert clock.slept == [7.0, 2.0, 2.0, 7.0, 2.0]


async def test_a_job_waits_for_a_stopped_postgresql(
    own_postgresql: Postgresql, caplog: pytest.LogCaptureFixture
) -> None:
    url = await anyio.to_thread.run_sync(own_postgresql.new_database)
    done = anyio.Event()

    async def job() -> None:
        async with open_exclusive_transaction(engine) as connection:
            await connection.exec_driver_sql("SELECT 1")
        done.set()

    async def start_again() -> None:
        if done.is_set():
            await anyio.sleep_forever()
        await anyio.to_thread.run_sync(own_postgresql.start)

    async with open_store(url) as engine, anyio.create_task_group() as tasks:
        await anyio.to_thread.run_sync(own_postgresql.stop)
        tasks.start_soon(
            run_periodically, engine, HurriedClock(start_again), job, 1.0, "nothing can be done now"
        )
        with anyio.fail_after(500):
            await done.wait()
        tasks.cancel_scope.cancel()
    assert "nothing can be done now" in caplog.text
