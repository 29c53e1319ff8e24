"""The connection that the journal writes with: one transaction after another, each in one piece.

SQLite's calls block, and its asynchronous driver passes each of them to its thread and back. Here a whole
transaction is one visit to a thread, so that a commit costs the event loop one turn and not ten. Moves are put into
their transaction by the event loop itself, and only the commit, which waits for the disk, is a visit: for each of many
rows the thread and the loop would take the interpreter from each other. In a store that is thrown away no commit
waits, and none takes longer than the way to a thread.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Protocol, TypeVar

import anyio
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.server.store import database, sqlite
from arena.server.store.journal.thread import Worker

T = TypeVar("T")


class Writer(Protocol):
    """Writes to one store, one transaction at a time."""

    waits: bool
    """Whether a commit waits for something: then it is worth while to gather what comes for the next one."""

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Do `work` in a transaction, commit it, and return what it returned. A failure is rolled back and raised.

        It is not cancelled half-way: half a commit would block the database for whoever comes next.
        """
        ...

    async def commit(self, work: Callable[[sa.Connection], T], *, by_driver: bool) -> T:
        """As `write`, for short work, which may be done in the event loop itself.

        by_driver: whether the work asks SQLite by its driver alone
        """
        ...

    def abandon(self) -> None:
        """Wait no longer for an answer of a database that is away: what is being written fails, done or not."""
        ...


class _Blocking:
    """SQLite: a connection whose calls block, and a thread for those that may take their time."""

    def __init__(self, connection: sa.Connection, thread: Worker, *, lasting: bool) -> None:
        """lasting: whether a commit waits for the disk."""
        self._connection = connection
        self._thread = thread
        self.waits = lasting

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        return await self._thread.do(partial(self._write, work))

    async def commit(self, work: Callable[[sa.Connection], T], *, by_driver: bool) -> T:
        here = by_driver or not self.waits
        # Nobody may be waited for in the event loop: whoever writes may need it to come to an end.
        if not here or self._thread.busy or not sqlite.begin(self._connection, wait=False):
            return await self._thread.do(partial(self._write_by_driver if by_driver else self._write, work))
        if not self.waits:
            with sqlite.ending(self._connection) if by_driver else self._connection.begin():
                return work(self._connection)
        try:
            result = work(self._connection)
        except BaseException:
            sqlite.roll_back(self._connection)
            raise
        await self._thread.do(self._end)
        return result

    def _end(self) -> None:
        with sqlite.ending(self._connection):
            pass

    def _write(self, work: Callable[[sa.Connection], T]) -> T:
        with self._connection.begin():
            return work(self._connection)

    def _write_by_driver(self, work: Callable[[sa.Connection], T]) -> T:
        sqlite.begin(self._connection)
        with sqlite.ending(self._connection):
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

    waits = True

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

    async def commit(self, work: Callable[[sa.Connection], T], *, by_driver: bool) -> T:  # noqa: ARG002  it has one way
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
            lasting = engine.get_execution_options()["lasting"]
            blocking = _Blocking(await thread.do(twin.connect), thread, lasting=lasting)
            try:
                yield blocking
            finally:
                await blocking.close()
                twin.dispose()
        return
    with anyio.CancelScope(shield=True):
        asynchronous = _Asynchronous(await engine.connect())
    try:
        yield asynchronous
    finally:
        await asynchronous.close()
