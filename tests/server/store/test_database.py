from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from anyio.lowlevel import checkpoint
from msgspec.structs import replace
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import AsyncEngine

from match.events import Opened, ServerBack
from protocol.record import RecordedMove, to_line
from server.store import migrations, schema, tokens
from server.store.database import (
    PASSWORD_FILE,
    StoreError,
    exclusive,
    insert_or_update,
    make_engine,
    open_store,
    prepare,
)
from server.store.journal.journal import Journal
from server.store.journal.reader import events_of
from server.store.ratings import refresh
from tests.server.databases import Postgresql
from tests.server.matches import record


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


FIRST_SCHEMA = """
CREATE TABLE about (schema_version INTEGER NOT NULL);
INSERT INTO about VALUES (1);
CREATE TABLE matches (match VARCHAR(64) NOT NULL PRIMARY KEY, event VARCHAR(128) NOT NULL,
  game VARCHAR(64) NOT NULL, maxie VARCHAR(64) NOT NULL, minnie VARCHAR(64) NOT NULL, terms TEXT NOT NULL,
  started VARCHAR(32) NOT NULL, record TEXT);
CREATE INDEX ix_matches_event ON matches (event);
CREATE TABLE events (match VARCHAR(64) NOT NULL, seq INTEGER NOT NULL, at BIGINT NOT NULL, event TEXT NOT NULL,
  PRIMARY KEY (match, seq), FOREIGN KEY(match) REFERENCES matches (match));
"""
"""As programs older than the migrations made it."""


OVER = replace(
    record("over", moves=[0, 1]),
    started="2026-11-20T12:00:59Z",
    moves=[RecordedMove(0, 1500.5), RecordedMove(1, 999.75)],
)


async def _make_first_schema(engine: AsyncEngine) -> None:
    row = {"event": "old", "game": "tictactoe", "maxie": "anna", "minnie": "bert", "terms": "{}"}
    row |= {"started": OVER.started}
    async with engine.begin() as connection:
        for statement in FIRST_SCHEMA.split(";\n"):
            if statement.strip():
                await connection.execute(sa.text(statement))
        for match, record in (("over", to_line(OVER)), ("open", None)):
            names = sa.table("matches", *(sa.column(name) for name in (*row, "match", "record")))
            await connection.execute(sa.insert(names).values(**row, match=match, record=record))
        for match in ("over", "open"):
            insert = f"INSERT INTO events VALUES ('{match}', 1, 5, '{{\"type\":\"opened\"}}')"
            await connection.exec_driver_sql(insert)


async def test_a_store_of_the_first_schema_is_brought_up_to_date_with_all_that_it_holds(
    database: str,
) -> None:
    async with closing(make_engine(database)) as engine:
        await _make_first_schema(engine)
        await prepare(engine)
        async with engine.connect() as connection:
            assert await connection.run_sync(_differences) == []
            rows = (
                await connection.execute(sa.select(schema.matches).order_by(schema.matches.c.match))
            ).all()
            assert [(row.match, row.rated, row.finished) for row in rows] == [
                ("open", False, None),
                ("over", False, "2026-11-20T12:01:01.500Z"),
            ]
            assert json.loads(rows[1].record)["match"] == "over"
            assert (
                await connection.execute(sa.select(sa.func.count()).select_from(schema.events))
            ).scalar() == 2


async def test_a_match_in_progress_in_a_store_of_the_first_schema_goes_on(database: str) -> None:
    async with closing(make_engine(database)) as engine:
        await _make_first_schema(engine)
        await prepare(engine)
        async with anyio.create_task_group() as tasks:
            journal = Journal(engine)
            tasks.start_soon(journal.run)
            await journal.durable(journal.append("open", 2, 7, ServerBack()))
            assert await events_of(engine, "open") == [(5, Opened()), (7, ServerBack())]
            await journal.durable(journal.close_match(record("open")))
            assert await events_of(engine, "open") == [(5, Opened()), (7, ServerBack())]
            assert await events_of(engine, "over") == [(5, Opened())]
            tasks.cancel_scope.cancel()


async def test_a_store_of_a_later_version_is_refused_and_left_alone(database: str) -> None:
    async with closing(make_engine(database)) as engine:
        await prepare(engine)
        async with engine.begin() as connection:
            await connection.execute(schema.about.update().values(schema_version=99))
        with pytest.raises(
            StoreError, match=f"schema 99, and this program knows schemas 1 to {migrations.SCHEMA_VERSION}"
        ):
            await prepare(engine)
        async with engine.connect() as connection:
            assert (await connection.execute(sa.select(schema.about.c.schema_version))).scalar() == 99


async def test_a_database_of_somebody_else_is_refused_and_left_alone(database: str) -> None:
    async with closing(make_engine(database)) as engine:
        async with engine.begin() as connection:
            await connection.execute(sa.text("CREATE TABLE cats (name VARCHAR(9))"))
        with pytest.raises(StoreError, match="something else: the tables cats"):
            await prepare(engine)
        async with engine.connect() as connection:
            names = await connection.run_sync(lambda each: sa.inspect(each).get_table_names())
            assert names == ["cats"]


async def test_a_migration_that_fails_half_way_leaves_the_store_as_it_was(database: str) -> None:
    async with closing(make_engine(database)) as engine:
        await _make_first_schema(engine)
        async with engine.begin() as connection:
            await connection.execute(
                sa.text("UPDATE matches SET record = 'no JSON' WHERE record IS NOT NULL")
            )
        with pytest.raises(ValueError, match="Expecting value"):
            await prepare(engine)
        async with engine.connect() as connection:
            names = await connection.run_sync(lambda each: sa.inspect(each).get_table_names())
            assert sorted(names) == ["about", "events", "matches"]
            columns = await connection.run_sync(lambda each: sa.inspect(each).get_columns("matches"))
            assert "rated" not in {column["name"] for column in columns}


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


async def test_insert_or_update_changes_the_rows_that_are_there(database: str) -> None:
    async with open_store(database) as engine:
        change = insert_or_update(engine.dialect.name, schema.sessions)
        for rows in (["a"], ["b", "a"]):
            async with engine.begin() as connection:
                values = [{"name": name, "hash": f"{name} of {len(rows)}"} for name in rows]
                await connection.execute(change, values)
        async with engine.connect() as connection:
            found = (await connection.execute(sa.select(schema.sessions))).all()
        assert sorted(map(tuple, found)) == [("a", "a of 2"), ("b", "b of 2")]


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


def test_without_the_driver_postgresql_asks_for_its_extra() -> None:
    # a process of its own, in which the driver is not there
    program = (
        "import sys; sys.modules['asyncpg'] = None\n"
        "from server.store.database import PASSWORD_FILE, StoreError, make_engine\n"
        "try:\n make_engine('postgresql://x/y')\nexcept StoreError as error:\n print(error)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout == "PostgreSQL needs the extra `postgres`: pip install 'riskless-arena[postgres]'\n"


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
