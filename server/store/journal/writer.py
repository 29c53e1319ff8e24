"""The connection that the journal writes with: one transaction after another, each in one piece.

SQLite's calls block, and its asynchronous driver passes each of them to its thread and back. Here a whole
transaction is one visit to a thread, so that a commit costs the event loop one turn and not ten.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Protocol, TypeVar

import anyio
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from server.store import database
from server.store.journal.thread import Worker

T = TypeVar("T")


class Writer(Protocol):
    """Writes to one store, one transaction at a time."""

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Do `work` in a transaction, commit it, and return what it returned. A failure is rolled back and raised.

        It is not cancelled half-way: half a commit would block the database for whoever comes next.
        """
        ...


class _InThread:
    """SQLite: a connection with a thread of its own."""

    def __init__(self, connection: sa.Connection, thread: Worker) -> None:
        self._connection = connection
        self._thread = thread

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        return await self._thread.do(partial(self._write, work))

    def _write(self, work: Callable[[sa.Connection], T]) -> T:
        with self._connection.begin():
            return work(self._connection)

    async def close(self) -> None:
        """Close the connection, after what is being written."""
        await self._thread.do(self._connection.close)


class _Asynchronous:
    """A database whose driver is asynchronous itself."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._one = anyio.Lock()

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        with anyio.CancelScope(shield=True):
            # A connection that was lost is made anew by the next transaction.
            async with self._one, self._connection.begin():
                result = await self._connection.run_sync(work)
        return result

    async def close(self) -> None:
        """Close the connection, after what is being written."""
        with anyio.CancelScope(shield=True):
            async with self._one:
                await self._connection.close()


@asynccontextmanager
async def open_writer(engine: AsyncEngine) -> AsyncIterator[Writer]:
    """A connection of its own for writing to the store of `engine`, until the block's end."""
    if engine.dialect.name == "sqlite":
        twin = database.blocking_twin(engine)
        with Worker("arena-writer") as thread:
            in_thread = _InThread(await thread.do(twin.connect), thread)
            try:
                yield in_thread
            finally:
                await in_thread.close()
                twin.dispose()
        return
    with anyio.CancelScope(shield=True):
        asynchronous = _Asynchronous(await engine.connect())
    try:
        yield asynchronous
    finally:
        await asynchronous.close()
