"""Copies of a whole store, taken while servers use it, and put back.

A backup is an SQLite store in one file, whichever database it was taken from: `arena serve --db` opens it
as it is, and `restore` puts it into another store, of either kind.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.server.store import database, lease, migrations, schema, sqlite
from arena.server.store.database import StoreError, make_engine
from arena.server.store.schema import matches, metadata, tokens

CHUNK = 500
"""Rows that are held in memory at once."""


class Contents(Struct, frozen=True):
    """How much is in a store."""

    matches: int
    finished: int
    tokens: int


async def backup(url: str, path: Path) -> Contents:
    """Copy the store as it is now into a new file. Raises StoreError, and OSError for the file."""
    engine = make_engine(url)
    try:
        return await copy_into_file(engine, path)
    finally:
        await database.close(engine)


async def copy_into_file(engine: AsyncEngine, path: Path) -> Contents:
    """Copy a store of this version or an older one, as it is now, into a new file. Raises StoreError, and OSError."""
    with _new_file(path) as part:
        async with database.usable(engine):
            if engine.dialect.name == "sqlite":
                await _vacuum(engine, part)
            else:
                await _copy_out(engine, part)
        return await _contents_of(part)


@contextmanager
def _new_file(path: Path) -> Iterator[Path]:
    """A file to be written in its own time, which then appears under its name whole."""
    if path.exists():
        raise FileExistsError(errno.EEXIST, "it exists: name another file, or remove it first", str(path))
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
        part = Path(folder) / path.name
        sqlite.make_private(part)
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.rename(path)


async def _vacuum(engine: AsyncEngine, part: Path) -> None:
    """Let SQLite copy itself: one snapshot, beside which the journal goes on."""
    await _check_store(engine, Path(engine.url.database or ""))
    async with engine.connect() as connection:
        await connection.exec_driver_sql("VACUUM INTO ?", (str(part),))
    copied = make_engine(f"sqlite:///{part}")
    try:
        async with copied.begin() as alone:
            # Nobody holds a name in the copy, whoever does in what it was taken from.
            if await alone.run_sync(lambda copy: sa.inspect(copy).has_table(schema.servers.name)):
                await alone.execute(sa.delete(schema.servers))
    finally:
        await database.close(copied)


async def _copy_out(engine: AsyncEngine, part: Path) -> None:
    """Make a store of the same version of an empty file, and copy all rows into it."""
    async with database.snapshot(engine) as connection:
        version = await connection.run_sync(migrations.version_of)
        if version is None:
            raise StoreError(f"{engine.url.database} holds no store: it is empty")
        await connection.run_sync(migrations.outdated)
        target = make_engine(f"sqlite:///{part}")
        try:
            async with target.begin() as into:
                await into.run_sync(migrations.upgrade, version)
                tables = await into.run_sync(_tables)
                await _copy(connection, into, tables)
            async with target.connect() as alone:
                # Everything goes into the one file, with no log beside it.
                await alone.exec_driver_sql("PRAGMA journal_mode=DELETE")
        finally:
            await database.close(target)


def _tables(connection: sa.Connection) -> list[sa.Table]:
    """The tables of a store of this version or an older one, each after those that it refers to."""
    if migrations.outdated(connection) is None:
        return metadata.sorted_tables
    found = sa.MetaData()
    found.reflect(connection)
    return [table for table in found.sorted_tables if table.name != migrations.ALEMBIC_TABLE]


async def restore(engine: AsyncEngine, path: Path) -> Contents:
    """Copy a backup into an empty store, all of it or nothing. Raises StoreError, and OSError for the file."""
    # Opening a store may change it, so it is a copy that is opened.
    with tempfile.TemporaryDirectory(prefix="arena-restore-") as folder:
        copied = Path(folder) / path.name
        shutil.copyfile(path, copied)
        opened = make_engine(f"sqlite:///{copied}")
        try:
            await _check_store(opened, path)
            await database.prepare(opened)
            async with database.snapshot(opened) as source, database.exclusive(engine) as target:
                await _check_empty(target)
                await _copy(source, target, metadata.sorted_tables)
                return await _contents(target)
        finally:
            await database.close(opened)


async def _check_store(engine: AsyncEngine, path: Path) -> None:
    async with database.usable(engine), engine.connect() as connection:
        if await connection.run_sync(migrations.version_of) is None:
            raise StoreError(f"{path} holds no store: it is empty")


async def _check_empty(target: AsyncConnection) -> None:
    held = await target.run_sync(lease.held)
    if held:
        raise StoreError(f"{lease.shown(held[0])} is running on the store: stop it first")
    found = await _contents(target)
    if found.matches or found.tokens:
        there = f"{found.matches} matches and {found.tokens} tokens"
        raise StoreError(f"the store has {there} already: restore into an empty one")


async def _copy(source: AsyncConnection, target: AsyncConnection, tables: Sequence[sa.Table]) -> None:
    """Copy every row of these tables but the version, which the target has from its making, and the leases."""
    for table in tables:
        if table.name in (schema.about.name, schema.servers.name):
            continue
        rows = (await source.stream(sa.select(table))).mappings()
        async for chunk in rows.partitions(CHUNK):
            await target.execute(sa.insert(table), [dict(row) for row in chunk])
    if target.dialect.name == "postgresql":
        # It counts apart from the table, and the numbers that were copied are taken.
        last = sa.select(sa.func.max(matches.c.number)).scalar_subquery()
        sequence = sa.func.pg_get_serial_sequence("matches", "number")
        await target.execute(sa.select(sa.func.setval(sequence, sa.func.coalesce(last, 1))))
        arrival = sa.select(sa.func.max(matches.c.arrival)).scalar_subquery()
        name, taken = schema.ARRIVAL.name, arrival.is_not(None)
        await target.execute(sa.select(sa.func.setval(name, sa.func.coalesce(arrival, 1), taken)))


async def _contents_of(part: Path) -> Contents:
    engine = make_engine(f"sqlite:///{part}")
    try:
        async with database.usable(engine), engine.connect() as connection:
            found = await _contents(connection)
            await connection.rollback()
            await connection.exec_driver_sql("PRAGMA journal_mode=DELETE")
            return found
    finally:
        await database.close(engine)


async def _contents(connection: AsyncConnection) -> Contents:
    async def count(query: sa.Select[int]) -> int:
        return (await connection.execute(query)).scalar_one()

    every = sa.select(sa.func.count()).select_from(matches)
    return Contents(
        matches=await count(every),
        finished=await count(every.where(matches.c.finished.is_not(None))),
        tokens=await count(sa.select(sa.func.count()).select_from(tokens)),
    )
