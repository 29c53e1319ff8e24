"""Writer of the journal to PostgreSQL, with two connections: one for `commit`, and one for `run_in_transaction`.

`commit` uses the driver (asyncpg) directly. If the changes are only events of matches, it executes one statement, which
takes one round trip.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio
import sqlalchemy as sa
from anyio.lowlevel import checkpoint_if_cancelled
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.clock import TimeSource
from arena.server.store.database import STORE_LOCK_KEY, Engine
from arena.server.store.finished_matches import NEXT_ARRIVAL_SQL_BY_DIALECT
from arena.server.store.journal.changes import (
    REQUIRE_LEASE_SQL,
    JournalChanges,
    MatchEventRow,
    make_numbered_parameter_statement,
)
from arena.server.store.lease import Lease, LeaseLost

T = TypeVar("T")

APPEND_EVENTS_UNDER_LEASE_SQL = """
WITH held AS MATERIALIZED (SELECT 1 FROM servers WHERE name = :server AND number = :number FOR SHARE)
INSERT INTO events (number, seq, event)
SELECT matches.number, row.seq, row.event
FROM held, unnest(:matches::text[], :numbers::int[], :events::text[]) AS row (match, seq, event)
JOIN matches ON matches.match = row.match
WHERE matches.finished IS NULL AND matches.server = :server
ON CONFLICT (number, seq) DO UPDATE SET event = excluded.event
"""
"""Statement that appends rows of events (such as moves) to matches in progress, or nothing if the server has lost its lease.

Parameters: the lease's name and fencing token, and arrays of match ids, event numbers and events.
"""

BLOCK_MATCH_COUNTING_SQL = f"SELECT pg_advisory_xact_lock_shared({STORE_LOCK_KEY})"
"""Statement that waits until no transaction counts matches (`aggregates.match_counting`), and then prevents counting.

A transaction executes this statement before it assigns arrival numbers (order of receipt) to finished matches. The end of the
transaction allows counting again. Several transactions may assign numbers at the same time.
"""

_REQUIRE_LEASE_STATEMENT = make_numbered_parameter_statement(f"{REQUIRE_LEASE_SQL} FOR SHARE")
_APPEND_EVENTS_STATEMENT = make_numbered_parameter_statement(APPEND_EVENTS_UNDER_LEASE_SQL)


class ReconnectingConnection:
    """Database connection for one transaction at a time. If the connection is closed, the next transaction opens a new one."""

    def __init__(self, engine: Engine, answer_timeout_seconds: float, clock: TimeSource) -> None:
        """Prepare the connection, which the first transaction opens. A transaction fails after `answer_timeout_seconds`."""
        self._engine = engine
        self._answer_timeout_seconds = answer_timeout_seconds
        self._clock = clock
        self._lock = asyncio.Lock()
        self._connection: AsyncConnection | None = None
        self._driver_connection: Any = None
        """Object of the driver (asyncpg) for the connection in `_connection`; None while the connection is closed."""
        self._was_terminated = False
        """True if `fail_pending_calls` was called since the connection was opened."""

    @asynccontextmanager
    async def open_for_transaction(self) -> AsyncIterator[tuple[AsyncConnection, Any]]:
        """Yield the connection, for one transaction in the `async with` block, as two objects: SQLAlchemy's and asyncpg's.

        A cancellation takes effect before or after the block. After `answer_timeout_seconds`, the connection is closed, so that
        its pending calls raise an exception that counts as an outage (`errors.is_transient_error`).
        """
        await checkpoint_if_cancelled()  # a task that commits in a loop would otherwise never be cancelled
        with anyio.CancelScope(shield=True):
            async with self._lock:
                try:
                    if self._connection is None or self._driver_connection.is_closed():
                        await self._drop_connection()
                        connection = self._connection = await self._engine.connect()
                        self._driver_connection = (await connection.get_raw_connection()).driver_connection
                        self._was_terminated = False
                    abandon_timer = self._clock.call_later(
                        self._answer_timeout_seconds, self.fail_pending_calls
                    )
                    try:
                        yield self._connection, self._driver_connection
                    finally:
                        abandon_timer.cancel()
                except BaseException as error:
                    is_closed = self._driver_connection is None or self._driver_connection.is_closed()
                    if is_closed or self._driver_connection.is_in_transaction():
                        await self._drop_connection()
                    if self._was_terminated and isinstance(error, AttributeError):
                        # asyncpg uses attributes that `terminate` has set to None
                        raise ConnectionError("the connection to the database was closed") from error
                    raise

    async def _drop_connection(self) -> None:
        connection, self._connection, self._driver_connection = self._connection, None, None
        if connection is not None:
            await connection.invalidate()
            await connection.close()

    def fail_pending_calls(self) -> None:
        """Close the connection immediately, without a message to the database.

        Pending calls raise an exception, whether or not their transaction was committed.
        """
        if self._driver_connection is not None:
            self._was_terminated = True
            self._driver_connection.terminate()

    async def close(self) -> None:
        """Close the connection once the current transaction has ended."""
        with anyio.CancelScope(shield=True):
            async with self._lock:
                if self._connection is not None and self._driver_connection.is_closed():
                    await self._drop_connection()
                elif self._connection is not None:
                    await self._connection.close()


class PostgresqlWriter:
    """Writer of a server's `Journal` to PostgreSQL, with one connection for `commit` and one for `run_in_transaction`.

    So a call of `commit` waits for no transaction of `run_in_transaction`.
    """

    def __init__(self, engine: Engine, answer_timeout_seconds: float, clock: TimeSource) -> None:
        self._commit_connection, self._transaction_connection = (
            ReconnectingConnection(engine, answer_timeout_seconds, clock) for _ in range(2)
        )

    async def commit(self, changes: JournalChanges, lease: Lease) -> None:
        """Write the changes in one transaction.

        Raises LeaseLost if the lease is lost, and any database error.
        """
        async with self._commit_connection.open_for_transaction() as (_, driver_connection):
            if not changes.has_only_match_events:
                async with driver_connection.transaction():
                    await _require_lease(driver_connection, lease)
                    await _write_changes(driver_connection, changes, lease)
            elif not changes.match_event_rows or await _append_events(
                driver_connection, changes, lease
            ) < len(changes.match_event_rows):
                # The lease is lost, or a match was removed from the store meanwhile.
                await _require_lease(driver_connection, lease)

    async def run_in_transaction(self, operation: Callable[[sa.Connection], T]) -> T:
        """Run `operation` in a transaction, commit it, and return the result.

        If `operation` or the commit raises an exception, the transaction is rolled back.
        """
        async with self._transaction_connection.open_for_transaction() as (connection, _), connection.begin():
            return await connection.run_sync(operation)

    def fail_pending_calls(self) -> None:
        """Stop waiting for an unavailable database: all pending calls raise an exception."""
        self._commit_connection.fail_pending_calls()
        self._transaction_connection.fail_pending_calls()

    async def close(self) -> None:
        """Close both connections once their current transactions have ended."""
        await self._commit_connection.close()
        await self._transaction_connection.close()


async def _require_lease(driver_connection: Any, lease: Lease) -> None:
    if (
        await driver_connection.fetchval(_REQUIRE_LEASE_STATEMENT.sql, lease.server_name, lease.fencing_token)
        is None
    ):
        raise LeaseLost(lease)


async def _append_events(driver_connection: Any, changes: JournalChanges, lease: Lease) -> int:
    values = _APPEND_EVENTS_STATEMENT.list_values_in_order(_make_append_row(changes.match_event_rows, lease))
    status = await driver_connection.execute(_APPEND_EVENTS_STATEMENT.sql, *values)
    return int(status.rpartition(" ")[2])  # such as `INSERT 0 3`


def _make_append_row(event_rows: Sequence[MatchEventRow], lease: Lease) -> dict[str, Any]:
    matches, numbers, events = zip(*event_rows, strict=True)
    return {
        "server": lease.server_name,
        "number": lease.fencing_token,
        "matches": matches,
        "numbers": numbers,
        "events": events,
    }


async def _write_changes(driver_connection: Any, changes: JournalChanges, lease: Lease) -> None:
    if changes.closed_match_rows:
        await driver_connection.execute(BLOCK_MATCH_COUNTING_SQL)
    append_events = (
        [(APPEND_EVENTS_UNDER_LEASE_SQL, [_make_append_row(changes.match_event_rows, lease)])]
        if changes.match_event_rows
        else []
    )
    for sql, rows in changes.list_statements(NEXT_ARRIVAL_SQL_BY_DIALECT["postgresql"], append_events):
        statement = make_numbered_parameter_statement(sql)
        await driver_connection.executemany(
            statement.sql, [statement.list_values_in_order(row) for row in rows]
        )


@asynccontextmanager
async def open_postgresql_writer(
    engine: Engine, answer_timeout_seconds: float, clock: TimeSource
) -> AsyncIterator[PostgresqlWriter]:
    """Open a writer for the `async with` block, with its own two connections to the database of `engine`.

    answer_timeout_seconds: time to wait for the database's answer before a transaction fails
    """
    writer = PostgresqlWriter(engine, answer_timeout_seconds, clock)
    try:
        yield writer
    finally:
        await writer.close()
