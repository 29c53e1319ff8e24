"""The lock on an event of the store: one process plays it at a time. Whoever dies with the lock lets go of it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine


class CannotResume(Exception):
    """The store has the event, but it cannot go on: one line that says why."""


def digest(data: object) -> str:
    """Twelve hexadecimal digits that differ where plain data differ."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12]


@asynccontextmanager
async def locked(engine: AsyncEngine, event: str) -> AsyncIterator[None]:
    """Keep every other process from playing this event for as long as the block lasts. Raises CannotResume."""
    if engine.dialect.name == "sqlite":
        with _lock_file(Path(f"{engine.url.database}-ladder-{digest(event)}.lock"), event):
            yield
        return
    key = int.from_bytes(hashlib.sha256(f"ladder {event}".encode()).digest()[:8], signed=True)
    async with engine.connect() as connection:
        got = (await connection.execute(sa.select(sa.func.pg_try_advisory_lock(key)))).scalar_one()
        await connection.commit()
        if not got:
            raise _taken(event)
        try:
            yield
        finally:
            await connection.execute(sa.select(sa.func.pg_advisory_unlock(key)))
            await connection.commit()


@contextmanager
def _lock_file(path: Path, event: str) -> Iterator[None]:
    while True:
        with path.open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise _taken(event) from None
            if not _is(path, file.fileno()):
                continue  # whoever held it before has deleted it since it was opened here
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return


def _is(path: Path, file: int) -> bool:
    """Whether the open file is the one that the path leads to."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False


def _taken(event: str) -> CannotResume:
    return CannotResume(f"event {event} is being played by another process: wait for it, or --watch it")
