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

from server.store import database, sqlite
from server.store.journal.thread import Worker

T = TypeVar("T")


class Writer(Protocol):
    """Writes to one store, one transaction at a time."""

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Do `work` in a transaction, commit it, and return what it returned. A failure is rolled back and raised.

        It is not cancelled half-way: half a commit would block the database for whoever comes next.
        """
        ...

    async def write_by_driver(self, work: Callable[[sa.Connection], T]) -> T:
        """As `write`, for work that asks SQLite by its driver alone."""
        ...

    def abandon(self) -> None:
        """Wait no longer for an answer of a database that is away: what is being written fails, done or not."""
        ...


class _InThread:
    """SQLite: a connection with a thread of its own."""

    def __init__(self, connection: sa.Connection, thread: Worker) -> None:
        self._connection = connection
        self._thread = thread

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        return await self._thread.do(partial(self._write, work))

    async def write_by_driver(self, work: Callable[[sa.Connection], T]) -> T:
        return await self._thread.do(partial(self._write_by_driver, work))

    def _write(self, work: Callable[[sa.Connection], T]) -> T:
        with self._connection.begin():
            return work(self._connection)

    def _write_by_driver(self, work: Callable[[sa.Connection], T]) -> T:
        with sqlite.transaction(self._connection):
            return work(self._connection)

    def abandon(self) -> None:
        """Do nothing: SQLite itself waits a few seconds for a lock, and nobody can call a disk's answer off."""

    async def close(self) -> None:
        """Close the connection, after what is being written."""
        await self._thread.do(self._connection.close)


class _Terminates(Protocol):
    """A connection of the driver, as far as it is needed here."""

    def terminate(self) -> None:
        """End it at once."""
        ...


class _Asynchronous:
    """A database whose driver is asynchronous itself."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._one = anyio.Lock()
        self._driver: _Terminates | None = None
        """What the connection is to the driver, while something is being written."""

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        with anyio.CancelScope(shield=True):
            async with self._one:
                try:
                    # A connection that was lost is made anew by the next transaction.
                    async with self._connection.begin():
                        self._driver = (await self._connection.get_raw_connection()).driver_connection
                        result = await self._connection.run_sync(work)
                finally:
                    self._driver = None
        return result

    async def write_by_driver(self, work: Callable[[sa.Connection], T]) -> T:
        return await self.write(work)

    def abandon(self) -> None:
        """End the connection that something is being written with, without a word to the database."""
        if self._driver is not None:
            self._driver.terminate()

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
