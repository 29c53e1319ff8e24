"""Lock on a ladder or a match series in the store, so that only one process plays it.

When the process that holds the lock ends, the lock is released, even if the process was killed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import sqlalchemy as sa

from arena.locked_file import open_locked_file
from arena.server.store.database import Engine


class CannotResume(Exception):
    """Raised when a ladder cannot be started or resumed; the message is a one-line reason."""


def compute_short_json_digest(json_data: object) -> str:
    """Return a hash of JSON data as twelve hexadecimal digits. The order of keys does not matter."""
    return hashlib.sha256(json.dumps(json_data, sort_keys=True).encode()).hexdigest()[:12]


@asynccontextmanager
async def lock_event_of_ladder(engine: Engine, event_name: str) -> AsyncIterator[None]:
    """Hold the lock on the ladder called `event_name` during the block. Raises CannotResume if another process holds it."""
    if engine.dialect.name == "sqlite":
        with _lock_file(
            Path(f"{engine.url.database}-ladder-{compute_short_json_digest(event_name)}.lock"), event_name
        ):
            yield
        return
    key = int.from_bytes(hashlib.sha256(f"ladder {event_name}".encode()).digest()[:8], signed=True)
    async with engine.connect() as connection:
        acquired = (await connection.execute(sa.select(sa.func.pg_try_advisory_lock(key)))).scalar_one()
        await connection.commit()
        if not acquired:
            raise _make_already_playing_error(event_name)
        try:
            yield
        finally:
            await connection.execute(sa.select(sa.func.pg_advisory_unlock(key)))
            await connection.commit()


@contextmanager
def _lock_file(lock_path: Path, event_name: str) -> Iterator[None]:
    try:
        file = open_locked_file(lock_path)
    except BlockingIOError:
        raise _make_already_playing_error(event_name) from None
    try:
        yield
    finally:
        try:
            lock_path.unlink(missing_ok=True)
        finally:
            os.close(file)


def _make_already_playing_error(event_name: str) -> CannotResume:
    return CannotResume(
        f"event {event_name} is being played by another process: wait until that process ends"
    )
