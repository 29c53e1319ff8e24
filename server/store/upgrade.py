"""A store is made ready for this version of the program: made where it is empty, and brought up to date where it is old.

Before the first change an old store is copied into a file, as `arena backup` does it. The copy and all the changes are of one
transaction, in which nobody else writes: either the store is as this version wants it and the copy lies beside it,
or the store is as it was and there is no copy.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import anyio
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store import backup, lease, migrations
from arena.server.store.database import (
    StoreError,
    close,
    exclusive,
    patient_twin,
    prepare,
    reading,
    usable,
)
from arena.server.store.lease import LEASE_SECONDS, LOOK_SECONDS, NameHeld
from arena.server.store.sqlite import close_to_others

log = logging.getLogger("arena.store")


async def make_ready(engine: AsyncEngine, *, back_up: bool = True) -> None:
    """Make the tables, or bring those of an older version up to date after a backup. Raises StoreError.

    back_up: whether an old store is copied before it is changed; the copy of an SQLite store lies beside it, that of a
        PostgreSQL store in the working folder, and the log says where

    An old store that a server plays on is left alone: it is waited for as long as the server's lease lasts without
    being renewed, and then refused as lease.NameHeld.
    """
    first: NameHeld | None = None
    end = monotonic() + LEASE_SECONDS + LOOK_SECONDS
    while True:
        try:
            await _make_ready(engine, back_up=back_up)
        except NameHeld as held:
            first = first or held
            if (held.name, held.renewal) != (first.name, first.renewal) or monotonic() >= end:
                raise
            await anyio.sleep(LOOK_SECONDS)
        else:
            return


async def _make_ready(engine: AsyncEngine, *, back_up: bool) -> None:
    async with usable(engine), reading(engine) as reader:
        old = await reader.run_sync(migrations.outdated)
    if old is None:
        await prepare(engine)
        return
    # A large store is copied, and gets another index, in minutes.
    patient = patient_twin(engine)
    try:
        await _upgrade(patient, back_up=back_up)
    finally:
        await close(patient)


async def _upgrade(engine: AsyncEngine, *, back_up: bool) -> None:
    copy: Path | None = None
    changed = False
    try:
        async with usable(engine), exclusive(engine) as connection:
            # Another process may have done it in the meantime.
            version = await connection.run_sync(migrations.outdated)
            if version is not None:
                await connection.run_sync(_keep_writers_out)
                if back_up:
                    copy = await _back_up(engine, version)
            await connection.run_sync(migrations.upgrade)
            changed = True
    except BaseException:
        # Where only the commit failed, it may be durable all the same.
        if copy is not None and not changed:
            await anyio.Path(copy).unlink()
        raise
    if version is not None:
        if engine.dialect.name == "sqlite":
            # Older versions left it to the user's umask who may read a store.
            close_to_others(Path(engine.url.database or ""))
        told = f"a backup of it as it was is {copy}" if copy is not None else "there is no backup of it"
        log.warning("the store had schema %d and now has %d; %s", version, migrations.SCHEMA_VERSION, told)


def _keep_writers_out(connection: sa.Connection) -> None:
    """Let nobody write until the end of this transaction. Raises NameHeld where a server does."""
    tables = sa.inspect(connection).get_table_names()
    if connection.dialect.name == "postgresql":
        names = ", ".join(map(connection.dialect.identifier_preparer.quote, sorted(tables)))
        # It does nothing while the copy is written, and must not be ended for that.
        connection.execute(sa.text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        connection.execute(sa.text(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE"))
    if "servers" in tables:
        lease.require_none(connection)


async def _back_up(engine: AsyncEngine, version: int) -> Path:
    """Copy the store into a new file. Raises StoreError where that cannot be written."""
    database = Path(engine.url.database or "")
    folder = database.parent if engine.dialect.name == "sqlite" else Path()
    time = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    path = (folder / f"{database.stem}-schema-{version}-{time}.db").absolute()
    try:
        await backup.copy_into_file(engine, path)
    except (OSError, StoreError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise StoreError(
            f"the store has schema {version}, and cannot be copied to {path} before it is brought up to date: {why};"
            " make room there, or give `arena serve --set store.backup=false` once"
        ) from None
    return path
