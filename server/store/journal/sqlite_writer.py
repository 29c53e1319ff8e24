"""Writer of the journal to SQLite. The blocking calls run in a thread, one call per commit.

A commit that contains only events of matches is one statement, which SQLite commits by itself. Fewer calls of SQLite
are faster: each one releases the interpreter lock and waits for it again, for milliseconds if the event loop is busy.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from itertools import chain
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import anyio
import sqlalchemy as sa

from arena.server.store import database, sqlite
from arena.server.store.database import Engine
from arena.server.store.finished_matches import NEXT_ARRIVAL_SQL_BY_DIALECT
from arena.server.store.journal.changes import REQUIRE_LEASE_SQL, JournalChanges
from arena.server.store.lease import Lease, LeaseLost

T = TypeVar("T")

MAX_ROWS_PER_STATEMENT = 500
"""Maximum number of rows of match events in one statement. Each row has three parameters, and SQLite allows 32,766."""


@cache
def make_append_events_statement(row_count: int) -> str:
    """Return the SQL statement that appends `row_count` rows of match events, unless the server has lost its lease.

    The statement's parameters are the three values of each row (`changes.MatchEventRow`), then the name of the lease twice, and
    the lease's fencing token. One JSON parameter for all rows would take SQLite twice as long.
    """
    return f"""
INSERT INTO events (number, seq, event)
SELECT matches.number, row.column2, row.column3
FROM (VALUES {", ".join(["(?, ?, ?)"] * row_count)}) AS row CROSS JOIN matches ON matches.match = row.column1
WHERE matches.finished IS NULL AND matches.server = ?
  AND EXISTS (SELECT 1 FROM servers WHERE name = ? AND number = ?)
ON CONFLICT (number, seq) DO UPDATE SET event = excluded.event
"""  # noqa: S608  question marks


class WriterThread:
    """Thread that runs blocking calls, one after another, for tasks of the running event loop.

    The thread wakes up the event loop through a pipe, which takes less time than `call_soon_threadsafe`.
    """

    def __init__(self, name: str) -> None:
        self._calls: SimpleQueue[tuple[asyncio.Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._results: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._loop = asyncio.get_running_loop()
        self._read_fd, self._write_fd = os.pipe()
        os.set_blocking(self._read_fd, False)
        os.set_blocking(self._write_fd, False)
        self._loop.add_reader(self._read_fd, self._deliver_results)
        self.undelivered_call_count = 0
        """Number of queued or finished calls whose results the event loop has not received yet."""
        self._thread = Thread(target=self._run_queued_calls, name=name, daemon=True)
        self._thread.start()

    def run_in_thread(self, operation: Callable[[], T]) -> asyncio.Future[T]:
        """Queue `operation` to run in the thread, and return a future of its result.

        Cancelling the future does not stop `operation`.
        """
        future: asyncio.Future[T] = self._loop.create_future()
        self.undelivered_call_count += 1
        self._calls.put((future, operation))
        return future

    def _run_queued_calls(self) -> None:
        while (call := self._calls.get()) is not None:
            future, operation = call
            try:
                self._results.append((future, operation(), None))
            except BaseException as error:  # noqa: BLE001  raised in the task that waits for the call
                self._results.append((future, None, error))
            with suppress(BlockingIOError):  # the pipe is full, so the loop will wake up anyway
                os.write(self._write_fd, b"\0")

    def _deliver_results(self) -> None:
        os.read(self._read_fd, 4096)
        while self._results:
            future, result, error = self._results.popleft()
            self.undelivered_call_count -= 1
            if future.done():  # the waiting task was cancelled
                continue
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

    def close(self) -> None:
        """Let the pending calls finish, then stop the thread. Blocks until the calls have run."""
        self._calls.put(None)
        self._thread.join()
        self._loop.remove_reader(self._read_fd)
        os.close(self._read_fd)
        os.close(self._write_fd)


class SqliteWriter:
    """Writer of a server's `Journal` to an SQLite file, through one connection."""

    def __init__(self, connection: sa.Connection, thread: WriterThread, *, durable: bool) -> None:
        """Prepare a writer through `connection`, whose calls run in `thread`.

        durable: True if a commit waits for the disk; False for a temporary store, whose short commits run directly in
            the event loop, not in the thread
        """
        self._connection = connection
        self._driver_connection = _get_driver_connection(connection)
        self._thread = thread
        self._durable = durable
        if not durable:
            self._driver_connection.execute(sqlite.DISABLE_BUSY_WAIT_SQL)

    def commit(self, changes: JournalChanges, lease: Lease) -> Awaitable[None]:
        """Write the changes in one transaction.

        Raises LeaseLost if the lease is lost, and sqlite3.Error if the transaction fails.
        """
        work = partial(self._commit, changes, lease)
        if self._durable:
            return self._thread.run_in_thread(work)
        if not self._thread.undelivered_call_count:
            try:
                # The commit does not wait for the disk, so it may run in the event loop. It must not wait for another
                # writer there either.
                work()
            except sqlite3.OperationalError as error:
                if sqlite.get_sqlite_error_code(error) != sqlite3.SQLITE_BUSY:
                    raise
            else:
                return _return_nothing()
        return self._thread.run_in_thread(partial(self._run_waiting_for_locks, work))

    async def run_in_transaction(self, operation: Callable[[sa.Connection], T]) -> T:
        """Run `operation` in a transaction, commit it, and return the result.

        If `operation` or the commit raises an exception, the transaction is rolled back.
        """
        return await self._thread.run_in_thread(
            partial(self._run_waiting_for_locks, partial(self._run_transaction, operation))
        )

    def fail_pending_calls(self) -> None:
        """Do nothing. Only the writer to PostgreSQL can make its pending calls fail.

        SQLite waits only seconds for a lock, and a pending write to the disk cannot be cancelled.
        """

    def _run_waiting_for_locks(self, operation: Callable[[], T]) -> T:
        """Run `operation` so that it waits for the locks of other writers. Call this only in the writer's thread."""
        if self._durable:
            return operation()
        self._driver_connection.execute(sqlite.ENABLE_BUSY_WAIT_SQL)
        try:
            return operation()
        finally:
            self._driver_connection.execute(sqlite.DISABLE_BUSY_WAIT_SQL)

    def _commit(self, changes: JournalChanges, lease: Lease) -> None:
        event_rows, lease_values = (
            changes.match_event_rows,
            (lease.server_name, lease.server_name, lease.fencing_token),
        )
        if changes.has_only_match_events and 0 < len(event_rows) <= MAX_ROWS_PER_STATEMENT:
            values = (*chain.from_iterable(event_rows), *lease_values)
            if self._driver_connection.execute(
                make_append_events_statement(len(event_rows)), values
            ).rowcount < len(event_rows):
                # The lease is lost, or a match was removed from the store meanwhile.
                self._require_lease(lease)
            return
        append_events = [
            (make_append_events_statement(len(chunk)), [(*chain.from_iterable(chunk), *lease_values)])
            for chunk in database.split_into_chunks(event_rows, MAX_ROWS_PER_STATEMENT)
        ]
        self._driver_connection.execute(sqlite.BEGIN_TRANSACTION_SQL)
        try:
            self._require_lease(lease)
            for statement, rows in changes.list_statements(
                NEXT_ARRIVAL_SQL_BY_DIALECT["sqlite"], append_events
            ):
                self._driver_connection.executemany(statement, rows)
            self._driver_connection.execute("COMMIT")
        except BaseException:
            self._driver_connection.rollback()
            raise

    def _require_lease(self, lease: Lease) -> None:
        parameters = {"server": lease.server_name, "number": lease.fencing_token}
        if self._driver_connection.execute(REQUIRE_LEASE_SQL, parameters).fetchone() is None:
            raise LeaseLost(lease)

    def _run_transaction(self, operation: Callable[[sa.Connection], T]) -> T:
        with self._connection.begin():
            return operation(self._connection)


async def _return_nothing() -> None:
    pass


def _get_driver_connection(connection: sa.Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        raise TypeError(f"the connection is a {type(driver).__name__}, not a blocking sqlite3.Connection")
    return driver


@asynccontextmanager
async def open_sqlite_writer(engine: Engine) -> AsyncIterator[SqliteWriter]:
    """Open a writer for the `async with` block, with its own connection to the SQLite file of `engine` and its own thread."""
    blocking_engine = database.make_blocking_engine(engine)
    thread = WriterThread("arena-writer")
    try:
        connection = await thread.run_in_thread(blocking_engine.connect)
        try:
            yield SqliteWriter(connection, thread, durable=engine.get_execution_options()["durable"])
        finally:
            with anyio.CancelScope(shield=True):
                await thread.run_in_thread(connection.close)
    finally:
        blocking_engine.dispose()
        thread.close()
