"""Back up a whole store while servers use it, and restore it.

A backup is an SQLite store in one file, whether the store is SQLite or PostgreSQL. `arena serve --db` opens a backup
directly, and `arena restore` copies it into another store, SQLite or PostgreSQL.
"""

from __future__ import annotations

import asyncio
import errno
import shutil
import sqlite3
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import sqlalchemy as sa
from anyio.lowlevel import checkpoint
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.atomic_file import create_file_atomically
from arena.server.store import database, lease, migrations, schema, sqlite
from arena.server.store.database import Engine, open_engine
from arena.server.store.errors import REASON_BY_SQLITE_ERROR_CODE, StoreError
from arena.server.store.finished_matches import IS_FINISHED_MATCH
from arena.server.store.schema import matches, metadata, tokens

ROWS_COPIED_AT_ONCE = 500
"""Number of rows that are copied at a time, and so held in memory."""

SQLITE_LOG_FILE_SUFFIXES = ("-wal", "-journal")
"""Suffixes of SQLite's write-ahead log and rollback journal, which SQLite applies when it opens the database beside them."""


class StoreCounts(Struct, frozen=True):
    """Number of matches, finished matches and tokens in a store."""

    match_count: int
    finished_match_count: int
    token_count: int


async def create_backup(url: str, backup_file: Path) -> StoreCounts:
    """Copy the current state of a store into a new file, while servers may write to the store.

    url: database URL of the store
    backup_file: file to create, which appears only when it is complete

    Return the numbers of matches and tokens in the backup. Raises StoreError if the store cannot be used, or the disk of
    the file is full, FileExistsError if the file exists, and another OSError if the file cannot be written. A
    cancellation interrupts the copying, and leaves no file.
    """
    _require_new_file(backup_file)
    async with open_engine(url) as engine:
        with create_file_atomically(backup_file) as part:
            sqlite.create_private_file(part)
            async with open_engine(f"sqlite:///{part}", display_name=str(backup_file)) as copy:
                if engine.dialect.name == "sqlite":
                    await _copy_sqlite_store(engine, copy)
                else:
                    await _copy_postgresql_store(engine, copy)
                async with database.convert_database_errors(copy):
                    return await _finish_backup_copy(copy)


def _require_new_file(backup_file: Path) -> None:
    if backup_file.exists():
        raise FileExistsError(
            errno.EEXIST, "the file exists: name another one, or remove it first", str(backup_file)
        )


async def _copy_sqlite_store(source_engine: Engine, target_engine: Engine) -> None:
    """Copy a snapshot of an SQLite store to the empty file of `target_engine`. Servers may write to the store meanwhile."""
    await _require_store_tables(source_engine)
    async with database.convert_database_errors(source_engine), source_engine.connect() as connection:
        try:
            await _execute_interruptibly(connection, "VACUUM INTO ?", (target_engine.url.database or "",))
        except sqlite3.OperationalError as error:
            code = sqlite.get_sqlite_error_code(error)
            if code == sqlite3.SQLITE_FULL:
                raise StoreError(
                    f"cannot write {database.get_database_display_name(target_engine)}: {REASON_BY_SQLITE_ERROR_CODE[code]}"
                ) from None
            if code == sqlite3.SQLITE_IOERR:  # such as a quota or a limit of the file's size
                source_name = source_engine.url.database
                raise StoreError(
                    f"cannot copy {source_name} to {database.get_database_display_name(target_engine)}: {REASON_BY_SQLITE_ERROR_CODE[code]}"
                ) from None
            raise


async def _execute_interruptibly(
    connection: AsyncConnection, statement: str, parameters: tuple[str, ...] = ()
) -> list[sqlite3.Row]:
    """Execute a long statement on SQLite, and return its rows. Raises sqlite3.Error.

    On cancellation, interrupt SQLite, and wait until it no longer uses its files.
    """
    driver: Any = (await connection.get_raw_connection()).driver_connection
    # SQLAlchemy would close the connection, which its caller still uses, if a second Ctrl-C cancelled this task.
    execution = asyncio.ensure_future(driver.execute_fetchall(statement, parameters))
    try:
        await asyncio.wait({execution})  # a cancellation does not cancel `execution`
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            await driver.interrupt()
            await asyncio.wait({execution})
        if not execution.cancelled():
            execution.exception()  # asyncio would log an exception that nobody has read
        raise
    return list(execution.result())


async def _copy_postgresql_store(source_engine: Engine, target_engine: Engine) -> None:
    """Create the tables of an SQLite store, and copy all rows of a PostgreSQL store into it.

    source_engine: engine of the PostgreSQL store
    target_engine: engine of the new SQLite store
    """
    async with database.convert_database_errors(target_engine), target_engine.begin() as target:
        await target.run_sync(migrations.create_tables)
        async with (
            database.convert_database_errors(source_engine),
            database.open_snapshot_connection(source_engine) as connection,
        ):
            await connection.run_sync(migrations.require_current_schema)
            await _copy_rows_of_all_tables(connection, target)


async def _finish_backup_copy(copy_engine: Engine) -> StoreCounts:
    """Finish a copy of a store: delete servers' leases, put all data into one file, and return the copy's counts."""
    async with copy_engine.begin() as connection:
        await connection.execute(sa.delete(schema.servers))
        counts = await _count_store_rows(connection)
    await _disable_write_ahead_log(copy_engine)
    return counts


async def _disable_write_ahead_log(engine: Engine) -> None:
    """Turn off the write-ahead log of an SQLite store, so that the store's file alone holds all data."""
    async with engine.connect() as connection:
        await connection.exec_driver_sql("PRAGMA journal_mode=DELETE")


async def restore_backup(url: str, backup_file: Path) -> StoreCounts:
    """Check a whole backup, and copy it into an empty store, in one transaction. After any error, the store is as before.

    url: database URL of the store. A missing SQLite file is created, and appears only when it is complete. The store must
        have no matches and no tokens
    backup_file: file of the backup, which is not changed

    Return the numbers of matches and tokens in the store afterwards. Raises StoreError if the file is damaged or is not a
    backup, or if the target store cannot be used, is not empty, or is used by a running server, and OSError if the file
    cannot be read.
    """
    _require_no_write_ahead_log(backup_file)
    target_file = database.parse_sqlite_path(url)
    async with open_engine(url) as engine, _open_checked_backup_copy(backup_file) as source:
        if target_file is None or target_file.exists():
            return await _copy_into_empty_store(source, engine)
        _require_no_leftover_sqlite_log(target_file)
        async with database.convert_database_errors(engine):
            try:
                with create_file_atomically(target_file) as part:
                    return await _copy_into_new_file(source, part, url)
            except FileExistsError:
                raise StoreError(
                    f"{target_file} was created by another process meanwhile: restore into an empty store"
                ) from None


async def _copy_into_new_file(source_engine: Engine, target_file: Path, store_url: str) -> StoreCounts:
    """Copy a checked backup into the SQLite file `target_file`, which is created.

    source_engine: engine of the checked backup
    store_url: URL of the new store in error messages
    """
    async with open_engine(f"sqlite:///{target_file}", display_name=store_url) as engine:
        counts = await _copy_into_empty_store(source_engine, engine)
        await _disable_write_ahead_log(engine)
        return counts


async def _copy_into_empty_store(source_engine: Engine, target_engine: Engine) -> StoreCounts:
    """Copy a checked backup into an empty store, in one transaction, and return the numbers of matches and tokens in it.

    source_engine: engine of the checked backup
    target_engine: engine of the empty store
    """
    async with (
        database.convert_database_errors(target_engine),
        database.open_exclusive_transaction(target_engine) as target,
    ):
        await target.run_sync(database.create_or_migrate_tables)
        await _require_empty_store(target)
        async with (
            database.convert_database_errors(source_engine),
            database.open_snapshot_connection(source_engine) as source,
        ):
            await _copy_rows_of_all_tables(source, target)
        await _advance_number_sequences(target)
        return await _count_store_rows(target)


@asynccontextmanager
async def _open_checked_backup_copy(backup_file: Path) -> AsyncIterator[Engine]:
    """Open a temporary copy of a backup, migrated to the schema of this version. The backup itself is not changed.

    Raises StoreError, which names the backup, if the backup is damaged or is not a store.
    """
    with tempfile.TemporaryDirectory(prefix="arena-restore-") as folder:
        copied_file = Path(folder) / backup_file.name
        shutil.copyfile(backup_file, copied_file)
        await checkpoint()  # raises if Ctrl-C was pressed during the copying, before SQLite uses the copy
        async with open_engine(f"sqlite:///{copied_file}", display_name=str(backup_file)) as engine:
            await _require_store_tables(engine)
            await _require_intact_store(engine)
            await database.create_or_migrate_store(engine)
            yield engine


def _require_no_write_ahead_log(backup_file: Path) -> None:
    """Raise StoreError if some data of an SQLite store are not in its file, but in a write-ahead log beside it."""
    log_file = _find_nonempty_sqlite_log(backup_file, "-wal")
    if log_file is not None:
        raise StoreError(
            f"{backup_file} is not a backup, because some of its data are in {log_file.name}: make one with"
            f" `arena backup --db sqlite:///{backup_file} FILE`"
        )


def _require_no_leftover_sqlite_log(database_file: Path) -> None:
    """Raise StoreError if the write-ahead log or rollback journal of a deleted SQLite database is left.

    SQLite would apply such a log to a new database file of this name.
    """
    for suffix in SQLITE_LOG_FILE_SUFFIXES:
        log_file = _find_nonempty_sqlite_log(database_file, suffix)
        if log_file is not None:
            raise StoreError(
                f"{log_file} is left from a deleted database: delete it too, or restore into another file"
            )


def _find_nonempty_sqlite_log(database_file: Path, log_suffix: str) -> Path | None:
    """Return the log with the suffix `log_suffix`, such as `-wal`, of an SQLite database; None if it is missing or empty."""
    resolved_path = database_file.resolve()  # SQLite keeps the log beside the target of a link
    log_file = resolved_path.with_name(f"{resolved_path.name}{log_suffix}")
    return log_file if log_file.is_file() and log_file.stat().st_size else None


async def _require_store_tables(engine: Engine) -> None:
    async with database.convert_database_errors(engine), engine.connect() as connection:
        if await connection.run_sync(migrations.read_schema_version) is None:
            name = database.get_database_display_name(engine)
            raise StoreError(f"{name} is not a server's database: it has no tables; name another file")


async def _require_intact_store(engine: Engine) -> None:
    """Raise StoreError if a page (block of data) of the SQLite store of `engine` is damaged or missing."""
    async with database.convert_database_errors(engine), engine.connect() as connection:
        [[fault]] = await _execute_interruptibly(connection, "PRAGMA integrity_check(1)")
        if fault != "ok":
            name = database.get_database_display_name(engine)
            raise StoreError(f"{name} is damaged: {fault.splitlines()[-1]}: restore another backup")


async def _require_empty_store(target: AsyncConnection) -> None:
    await target.run_sync(lease.lock_out_servers)
    counts = await _count_store_rows(target)
    if counts.match_count or counts.token_count:
        contents_text = f"{counts.match_count} matches and {counts.token_count} tokens"
        raise StoreError(f"the store already has {contents_text}: restore into an empty one")


async def _copy_rows_of_all_tables(source: AsyncConnection, target: AsyncConnection) -> None:
    """Copy the rows of all tables from `source` to `target`, except the servers' leases and the schema version."""
    for table in metadata.sorted_tables:
        if table.name in (schema.about.name, schema.servers.name):
            continue
        rows = (await source.stream(sa.select(table))).mappings()
        async for chunk in rows.partitions(ROWS_COPIED_AT_ONCE):
            async with database.convert_database_errors(target.engine):
                await target.execute(sa.insert(table), [dict(row) for row in chunk])


async def _advance_number_sequences(target: AsyncConnection) -> None:
    """Advance the PostgreSQL sequences that number rows of `matches` past the highest copied numbers.

    Do nothing on SQLite, which has no sequences.
    """
    if target.dialect.name == "postgresql":
        last_number = sa.select(sa.func.max(matches.c.number)).scalar_subquery()
        sequence = sa.func.pg_get_serial_sequence("matches", "number")
        await target.execute(sa.select(sa.func.setval(sequence, sa.func.coalesce(last_number, 1))))
        arrival = sa.select(sa.func.max(matches.c.arrival)).scalar_subquery()
        name, condition = schema.ARRIVAL_SEQUENCE.name, arrival.is_not(None)
        await target.execute(sa.select(sa.func.setval(name, sa.func.coalesce(arrival, 1), condition)))


async def _count_store_rows(connection: AsyncConnection) -> StoreCounts:
    async def execute_count_query(query: sa.Select[int]) -> int:
        return (await connection.execute(query)).scalar_one()

    matches_query = sa.select(sa.func.count()).select_from(matches)
    return StoreCounts(
        match_count=await execute_count_query(matches_query),
        finished_match_count=await execute_count_query(matches_query.where(IS_FINISHED_MATCH)),
        token_count=await execute_count_query(sa.select(sa.func.count()).select_from(tokens)),
    )
