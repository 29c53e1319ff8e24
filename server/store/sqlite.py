"""What SQLite is told and asked itself: how its file and its connections are made, and what every commit needs.

Its driver is asked itself where its calls block: the way to it through SQLAlchemy takes ten times as long as the
database.
"""

from __future__ import annotations

import math
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import anyio
import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import dialect
from sqlalchemy.engine import AdaptedConnection
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
from sqlalchemy.pool import ConnectionPoolEntry

STEPS_BETWEEN_LOOKS = 20_000
"""Instructions of SQLite's machine, well under a millisecond, from one look at the time to the next."""
PATIENCE = "patience"
"""By this name the pool knows the `Patience` of a connection."""

LOCKED_SECONDS = 5
"""How long somebody may wait for an SQLite file that another process is changing."""
WAIT = f"PRAGMA busy_timeout={LOCKED_SECONDS * 1000}"
"""Has a connection wait for so long."""
NO_WAIT = "PRAGMA busy_timeout=0"
"""Has a connection wait for nobody."""
BEGIN = "BEGIN IMMEDIATE"
"""Begins a transaction that has the file for itself from now on, and not from its first write on."""
AGAIN_SECONDS = 0.01
"""How long somebody waits who was refused the change of an SQLite file to a write-ahead log, before trying again."""


def make_private(file: Path) -> None:
    """Make an empty file that nobody else may read, where there is none; SQLite makes its logs beside it alike.

    SQLite itself would let all users of the machine read what is in a store, hashes of tokens too.
    """
    if not file.exists():
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def close_to_others(file: Path) -> None:
    """Take from others of this machine what they may do with an SQLite store; what its group may do stays."""
    for part in (file, *(file.with_name(f"{file.name}-{log}") for log in ("wal", "shm"))):
        if part.exists() and part.stat().st_uid == os.geteuid():
            part.chmod(part.stat().st_mode & 0o770)


def set_pragmas(engine: sa.Engine) -> None:
    """Have every connection of the engine be as the store needs it; its execution options say whether it is `lasting`."""
    sync = "FULL" if engine.get_execution_options()["lasting"] else "OFF"

    @sa.event.listens_for(engine, "connect")
    def _pragmas(connection: DBAPIConnection, record: ConnectionPoolEntry) -> None:
        record.info[PATIENCE] = patience = Patience()
        if isinstance(connection, AdaptedConnection):
            # SQLite asks so many times whether it is to go on; a query that is told not to ends at once.
            connection.run_async(
                lambda driver: driver.set_progress_handler(patience.is_over, STEPS_BETWEEN_LOOKS)
            )
        cursor = connection.cursor()
        # The timeout comes first: the change to WAL needs the file for itself.
        cursor.execute(WAIT)
        _change_to_wal(connection, cursor)
        for pragma in (
            f"synchronous={sync}",
            "foreign_keys=ON",
            # 16 MB before it is copied back: the pages of matches in play are written again and again.
            "wal_autocheckpoint=4000",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()


def _change_to_wal(connection: DBAPIConnection, cursor: DBAPICursor) -> None:
    """Have the file keep a write-ahead log, as it does from then on.

    Of several who change an empty file at once SQLite refuses all but one without waiting, whatever its timeout is: each
    holds what another one needs.
    """
    end = time.monotonic() + LOCKED_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() >= end:
                raise
        else:
            return
        if isinstance(connection, AdaptedConnection):
            connection.run_async(lambda _driver: anyio.sleep(AGAIN_SECONDS))
        else:
            time.sleep(AGAIN_SECONDS)


class Patience:
    """Until when a connection to SQLite may be busy with its query, in monotonic seconds."""

    def __init__(self) -> None:
        self._end = math.inf

    def is_over(self) -> bool:
        """Whether the connection has been busy for too long."""
        return time.monotonic() >= self._end

    @contextmanager
    def until(self, end: float) -> Iterator[None]:
        """Queries inside may last until then; from outside there is no limit."""
        self._end = end
        try:
            yield
        finally:
            self._end = math.inf


def first_row(connection: sa.Connection, text: str, values: Sequence[Any] = ()) -> Sequence[Any] | None:
    """The first row that a statement finds; None where there is none."""
    driver = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        return connection.exec_driver_sql(text, tuple(values)).first()
    with _errors_of_sqlalchemy(text):
        row: Sequence[Any] | None = driver.execute(text, values).fetchone()
    return row


def execute_many(connection: sa.Connection, text: str, rows: Sequence[Sequence[Any]]) -> None:
    """Execute a statement once for each row of values."""
    driver = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        connection.exec_driver_sql(text, [tuple(row) for row in rows])
        return
    with _errors_of_sqlalchemy(text):
        driver.executemany(text, rows)


def execute_each(
    connection: sa.Connection, statement: sa.UpdateBase, rows: Sequence[Mapping[str, Any]]
) -> int:
    """Execute one of the store's lasting statements for each of these, which have its parameters by their names.

    Returns how many rows were changed; -1 where the database does not say.
    """
    driver = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        return connection.execute(statement, rows).rowcount
    text, constants = _as_text(statement)
    with _errors_of_sqlalchemy(text):
        return driver.executemany(text, [constants | dict(row) for row in rows]).rowcount


@lru_cache(maxsize=32)
def _as_text(statement: sa.UpdateBase) -> tuple[str, dict[str, Any]]:
    """A statement as SQLite's driver takes it, and the parameters of which it has the values itself."""
    compiled = statement.compile(dialect=dialect(paramstyle="named"))
    return str(compiled), {name: value for name, value in compiled.params.items() if value is not None}


def begin(connection: sa.Connection, *, wait: bool = True) -> bool:
    """Begin a transaction that writes, on a connection of a blocking twin and past SQLAlchemy; whether it has begun.

    wait: for whoever writes already, for up to `LOCKED_SECONDS`; otherwise nobody is waited for
    """
    driver = _driver(connection)
    if wait:
        driver.execute(WAIT)
    try:
        with _errors_of_sqlalchemy(BEGIN):
            driver.execute(BEGIN)
    except sa.exc.OperationalError as error:
        if not wait and is_busy(error.orig):
            return False
        raise
    finally:
        if wait:
            driver.execute(NO_WAIT)
    return True


@contextmanager
def ending(connection: sa.Connection) -> Iterator[None]:
    """Commit at the block's end what `begin` began, past SQLAlchemy; an exception rolls it back.

    SQLAlchemy takes several times as long to begin and to end a transaction as SQLite does.
    """
    try:
        yield
        with _errors_of_sqlalchemy("COMMIT"):
            _driver(connection).commit()
    except BaseException:
        roll_back(connection)
        raise


def roll_back(connection: sa.Connection) -> None:
    """End what `begin` began as if it had never begun; nothing where SQLite has ended it by itself."""
    _driver(connection).rollback()


def is_busy(error: BaseException | None) -> bool:
    """Whether somebody else has kept what SQLite was asked for."""
    return (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF == sqlite3.SQLITE_BUSY


def has_begun(connection: sa.Connection) -> bool:
    """Whether a connection to SQLite whose calls block is in a transaction."""
    return _driver(connection).in_transaction


def _driver(connection: sa.Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        raise TypeError(f"the calls of a {type(driver).__name__} do not block")
    return driver


@contextmanager
def _errors_of_sqlalchemy(text: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise sa.exc.OperationalError(text, None, error) from error
    except sqlite3.IntegrityError as error:
        raise sa.exc.IntegrityError(text, None, error) from error
    except sqlite3.Error as error:
        raise sa.exc.DatabaseError(text, None, error) from error
