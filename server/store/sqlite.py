"""SQLite: permissions of the file, settings of connections, and deadlines of queries."""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import AdaptedConnection
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
from sqlalchemy.pool import ConnectionPoolEntry

from arena.clock import MONOTONIC_CLOCK, block_thread

INSTRUCTIONS_PER_DEADLINE_CHECK = 20_000
"""Number of SQLite's virtual-machine instructions between two checks of a query's deadline.

So many instructions take less than 1 ms.
"""
QUERY_DEADLINE_INFO_KEY = "deadline"
"""Key of the `QueryDeadline` of a pooled SQLAlchemy connection, in the connection's dictionary `info`."""

BUSY_TIMEOUT_SECONDS = 5
"""Maximum wait for an SQLite file that another process is changing, in seconds."""
ENABLE_BUSY_WAIT_SQL = f"PRAGMA busy_timeout={BUSY_TIMEOUT_SECONDS * 1000}"
"""Statement that makes a connection wait up to BUSY_TIMEOUT_SECONDS for a lock of another connection."""
DISABLE_BUSY_WAIT_SQL = "PRAGMA busy_timeout=0"
"""Statement that makes a connection fail immediately if another connection holds a lock that it needs."""
BEGIN_TRANSACTION_SQL = "BEGIN IMMEDIATE"
"""Statement that begins a transaction and locks the file for writing immediately, not at its first write."""
WAL_CHANGE_RETRY_PAUSE_SECONDS = 0.01
"""Pause between attempts to switch an SQLite file to a write-ahead log (WAL), in seconds."""


def create_private_file(file: Path) -> None:
    """Create the database file, if it is missing, so that only its owner may read it. An existing file is not changed.

    If SQLite itself created the file, all users of the machine could read it, and it contains hashes of tokens. SQLite
    gives its log files the permissions of the database file.
    """
    if not file.exists():
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def set_pragmas_on_connect(engine: sa.Engine) -> None:
    """Configure all future connections of an SQLAlchemy engine for SQLite.

    The SQLAlchemy engine must have the execution option `durable`: False if its store is temporary, so commits need not wait
    for the disk.
    """
    synchronous = "FULL" if engine.get_execution_options()["durable"] else "OFF"

    @sa.event.listens_for(engine, "connect")
    def _configure_connection(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
        record.info[QUERY_DEADLINE_INFO_KEY] = deadline = QueryDeadline()
        if isinstance(connection, AdaptedConnection):
            # SQLite calls this handler repeatedly, and ends the query when it returns True.
            connection.run_async(
                lambda driver: driver.set_progress_handler(
                    deadline.has_passed, INSTRUCTIONS_PER_DEADLINE_CHECK
                )
            )
        cursor = connection.cursor()
        # The timeout is set first, because the switch to WAL needs exclusive access to the file.
        cursor.execute(ENABLE_BUSY_WAIT_SQL)
        _switch_to_wal(connection, cursor)
        for pragma in (
            f"synchronous={synchronous}",
            "foreign_keys=ON",
            # The write-ahead log grows to 16 MB before it is copied into the file, because pages of current matches change often.
            "wal_autocheckpoint=4000",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()


def _switch_to_wal(connection: DBAPIConnection, cursor: DBAPICursor) -> None:
    """Switch the file to a write-ahead log permanently.

    If several connections switch an empty file at once, SQLite refuses all but one of them immediately, whatever the
    busy timeout, because each holds a lock that another needs. So a refused attempt is repeated for up to BUSY_TIMEOUT_SECONDS.
    """
    end_time = MONOTONIC_CLOCK.now() + BUSY_TIMEOUT_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if get_sqlite_error_code(error) != sqlite3.SQLITE_BUSY or MONOTONIC_CLOCK.now() >= end_time:
                raise
        else:
            return
        if isinstance(connection, AdaptedConnection):
            connection.run_async(lambda _driver: MONOTONIC_CLOCK.sleep(WAL_CHANGE_RETRY_PAUSE_SECONDS))
        else:
            block_thread(WAL_CHANGE_RETRY_PAUSE_SECONDS)


class QueryDeadline:
    """Deadline for queries of one SQLite connection. Only queries in a `with limit_query_time(…)` block have a deadline."""

    def __init__(self) -> None:
        self._deadline = math.inf
        """Deadline in monotonic seconds; infinity for none."""

    def has_passed(self) -> bool:
        return MONOTONIC_CLOCK.now() >= self._deadline

    @contextmanager
    def limit_query_time(self, deadline_seconds: float) -> Iterator[None]:
        """Set the deadline for the queries in the `with` block, in monotonic seconds, and remove it afterwards."""
        self._deadline = deadline_seconds
        try:
            yield
        finally:
            self._deadline = math.inf


def get_sqlite_error_code(error: BaseException) -> int:
    """Return SQLite's primary error code, such as `sqlite3.SQLITE_BUSY` for a lock; 0 if `error` does not come from SQLite."""
    return (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
