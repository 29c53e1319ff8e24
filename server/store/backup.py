"""Back up a whole store while servers use it, and restore it.

A backup is an SQLite store in one file, whether the store is SQLite or PostgreSQL. `arena serve --db` opens a backup
directly, and `arena restore` copies it into another store, SQLite or PostgreSQL.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.server.store import database, lease, migrations, schema, sqlite
from arena.server.store.database import StoreError, make_engine
from arena.server.store.schema import matches, metadata, tokens

ROWS_PER_COPY = 500
"""Number of rows that are copied at a time, and so held in memory."""


class StoreCounts(Struct, frozen=True):
    """Number of matches, finished matches and tokens in a store."""

    matches: int
    finished: int
    tokens: int


async def backup(url: str, path: Path) -> StoreCounts:
    """Copy the current state of a store into a new file, while servers may write to the store.

    url: database URL of the store
    path: file to create, which appears only when it is complete

    Return what the backup contains. Raises StoreError if the store cannot be used, FileExistsError if the file exists,
    and another OSError if it cannot be written.
    """
    engine = make_engine(url)
    try:
        with _replace_on_success(path) as part:
            async with database.convert_database_errors(engine):
                if engine.dialect.name == "sqlite":
                    await _copy_sqlite(engine, part)
                else:
                    await _copy_postgresql(engine, part)
            return await _count_in_file(part)
    finally:
        await database.close_engine(engine)


@contextmanager
def _replace_on_success(path: Path) -> Iterator[Path]:
    """Yield the path of an empty temporary file, and move the file to `path` at the end of the block.

    If the block raises an exception, the temporary file is deleted. Raises FileExistsError if `path` exists.
    """
    if path.exists():
        raise FileExistsError(
            errno.EEXIST, "the file exists: name another one, or remove it first", str(path)
        )
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
        part = Path(folder) / path.name
        sqlite.make_private(part)
        yield part
        with part.open("rb") as stream:
            os.fsync(stream.fileno())
        part.rename(path)


async def _copy_sqlite(engine: AsyncEngine, file: Path) -> None:
    """Copy a consistent snapshot of an SQLite store, without its leases, to `file`. Meanwhile the journal can write."""
    await _require_store(engine, Path(engine.url.database or ""))
    async with engine.connect() as connection:
        await connection.exec_driver_sql("VACUUM INTO ?", (str(file),))
    copied = make_engine(f"sqlite:///{file}")
    try:
        async with copied.begin() as alone:
            # The copy has no running servers, so it must not contain leases.
            if await alone.run_sync(lambda copy: sa.inspect(copy).has_table(schema.servers.name)):
                await alone.execute(sa.delete(schema.servers))
    finally:
        await database.close_engine(copied)


async def _copy_postgresql(engine: AsyncEngine, file: Path) -> None:
    """Create an SQLite store in the empty file `file`, and copy all rows of a PostgreSQL store into it."""
    async with database.open_snapshot(engine) as connection:
        await connection.run_sync(migrations.require_current)
        target = make_engine(f"sqlite:///{file}")
        try:
            async with target.begin() as into:
                await into.run_sync(migrations.create_tables)
                await _copy_rows(connection, into)
            async with target.connect() as alone:
                # Without a write-ahead log, all data are in the one file.
                await alone.exec_driver_sql("PRAGMA journal_mode=DELETE")
        finally:
            await database.close_engine(target)


async def restore(engine: AsyncEngine, path: Path) -> StoreCounts:
    """Copy a backup into an empty store, in one transaction.

    engine: store with tables, but without matches and tokens
    path: file of the backup, which is not changed

    Return what the store then contains. Raises StoreError if the file is not a store, or if the target cannot be used,
    is not empty, or is used by a running server, and OSError if the file cannot be read.
    """
    # Opening a store may change its file, so a copy of the backup is opened.
    with tempfile.TemporaryDirectory(prefix="arena-restore-") as folder:
        copied = Path(folder) / path.name
        shutil.copyfile(path, copied)
        source_engine = make_engine(f"sqlite:///{copied}")
        try:
            # Errors name the backup, which the user knows, not its copy.
            await _require_store(source_engine, path)
            await database.prepare_store(source_engine, str(path))
            async with (
                database.convert_database_errors(engine),
                database.exclusive_transaction(engine) as target,
            ):
                await _require_empty(target)
                async with (
                    database.convert_database_errors(source_engine, str(path)),
                    database.open_snapshot(source_engine) as source,
                ):
                    await _copy_rows(source, target)
                await _advance_sequences(target)
                return await _count(target)
        finally:
            await database.close_engine(source_engine)


async def _require_store(engine: AsyncEngine, path: Path) -> None:
    async with database.convert_database_errors(engine, str(path)), engine.connect() as connection:
        if await connection.run_sync(migrations.schema_version) is None:
            raise StoreError(f"{path} is not a store: it has no tables")


async def _require_empty(target: AsyncConnection) -> None:
    names = await target.run_sync(lease.load_held_names)
    if names:
        raise StoreError(f"{lease.describe_server(names[0])} is running on the store: stop it first")
    contents = await _count(target)
    if contents.matches or contents.tokens:
        contents_text = f"{contents.matches} matches and {contents.tokens} tokens"
        raise StoreError(f"the store already has {contents_text}: restore into an empty one")


async def _copy_rows(source: AsyncConnection, target: AsyncConnection) -> None:
    """Copy the rows of all tables, except the leases and the schema version, which the target already has."""
    for table in metadata.sorted_tables:
        if table.name in (schema.about.name, schema.servers.name):
            continue
        rows = (await source.stream(sa.select(table))).mappings()
        async for chunk in rows.partitions(ROWS_PER_COPY):
            async with database.convert_database_errors(target.engine):
                await target.execute(sa.insert(table), [dict(row) for row in chunk])


async def _advance_sequences(target: AsyncConnection) -> None:
    """Let PostgreSQL continue to number rows of `matches` after the highest copied numbers.

    Its sequences are separate from the table. SQLite has no sequences.
    """
    if target.dialect.name == "postgresql":
        last = sa.select(sa.func.max(matches.c.number)).scalar_subquery()
        sequence = sa.func.pg_get_serial_sequence("matches", "number")
        await target.execute(sa.select(sa.func.setval(sequence, sa.func.coalesce(last, 1))))
        arrival = sa.select(sa.func.max(matches.c.arrival)).scalar_subquery()
        name, condition = schema.ARRIVAL_SEQUENCE.name, arrival.is_not(None)
        await target.execute(sa.select(sa.func.setval(name, sa.func.coalesce(arrival, 1), condition)))


async def _count_in_file(file: Path) -> StoreCounts:
    engine = make_engine(f"sqlite:///{file}")
    try:
        async with database.convert_database_errors(engine), engine.connect() as connection:
            contents = await _count(connection)
            await connection.rollback()
            await connection.exec_driver_sql("PRAGMA journal_mode=DELETE")
            return contents
    finally:
        await database.close_engine(engine)


async def _count(connection: AsyncConnection) -> StoreCounts:
    async def execute_count(query: sa.Select[int]) -> int:
        return (await connection.execute(query)).scalar_one()

    every = sa.select(sa.func.count()).select_from(matches)
    return StoreCounts(
        matches=await execute_count(every),
        finished=await execute_count(every.where(matches.c.finished.is_not(None))),
        tokens=await execute_count(sa.select(sa.func.count()).select_from(tokens)),
    )
