"""Settings of SQLite: the permissions of its file, and its connections."""

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

from arena.clock import MONOTONIC, block_thread

STEPS_PER_CHECK = 20_000
"""Number of SQLite instructions between checks of the deadline. So many take well under a millisecond."""
DEADLINE = "deadline"
"""Key of a connection's `QueryDeadline` in the pool's `info`."""

LOCKED_SECONDS = 5
"""Maximum wait for an SQLite file that another process is changing, in seconds."""
BUSY_WAIT = f"PRAGMA busy_timeout={LOCKED_SECONDS * 1000}"
"""Statement that makes a connection wait up to LOCKED_SECONDS for a lock."""
NO_BUSY_WAIT = "PRAGMA busy_timeout=0"
"""Statement that makes a connection fail immediately on a lock."""
BEGIN = "BEGIN IMMEDIATE"
"""Statement that begins a transaction and locks the file for writing immediately, not at its first write."""
RETRY_SECONDS = 0.01
"""Pause between attempts to switch an SQLite file to a write-ahead log, in seconds."""


def make_private(file: Path) -> None:
    """Create a missing file so that only its owner may read it. SQLite gives its log files the same permissions.

    All users of the machine could read a file that SQLite itself creates, which contains hashes of tokens.
    """
    if not file.exists():
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def set_pragmas(engine: sa.Engine) -> None:
    """Configure all connections of the engine.

    The engine's execution option `lasting` is False for a temporary store.
    """
    sync = "FULL" if engine.get_execution_options()["lasting"] else "OFF"

    @sa.event.listens_for(engine, "connect")
    def _configure_connection(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
        record.info[DEADLINE] = deadline = QueryDeadline()
        if isinstance(connection, AdaptedConnection):
            # SQLite calls this handler repeatedly, and ends the query when it returns True.
            connection.run_async(
                lambda driver: driver.set_progress_handler(deadline.has_passed, STEPS_PER_CHECK)
            )
        cursor = connection.cursor()
        # The timeout is set first, because the switch to WAL needs exclusive access to the file.
        cursor.execute(BUSY_WAIT)
        _change_to_wal(connection, cursor)
        for pragma in (
            f"synchronous={sync}",
            "foreign_keys=ON",
            # 16 MB before it is copied back, because the pages of current matches are written repeatedly.
            "wal_autocheckpoint=4000",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()


def _change_to_wal(connection: DBAPIConnection, cursor: DBAPICursor) -> None:
    """Switch the file to a write-ahead log permanently.

    If several connections switch an empty file at once, SQLite refuses all but one immediately, whatever the timeout,
    because each holds a lock that another needs. So refused attempts are repeated.
    """
    end = MONOTONIC.now() + LOCKED_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if not is_busy(error) or MONOTONIC.now() >= end:
                raise
        else:
            return
        if isinstance(connection, AdaptedConnection):
            connection.run_async(lambda _driver: MONOTONIC.sleep(RETRY_SECONDS))
        else:
            block_thread(RETRY_SECONDS)


class QueryDeadline:
    """Deadline for the current query of an SQLite connection, in monotonic seconds."""

    def __init__(self) -> None:
        self._end = math.inf

    def has_passed(self) -> bool:
        """Return True if the deadline has passed."""
        return MONOTONIC.now() >= self._end

    @contextmanager
    def limit_queries(self, end: float) -> Iterator[None]:
        """Set the deadline of the queries in the block, and remove it afterwards."""
        self._end = end
        try:
            yield
        finally:
            self._end = math.inf


def is_busy(error: BaseException | None) -> bool:
    """Return True for SQLite's error that another connection holds a lock."""
    return (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF == sqlite3.SQLITE_BUSY
