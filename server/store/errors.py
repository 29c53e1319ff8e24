"""Errors of the store: exceptions, and one-line reasons for errors of SQLite and PostgreSQL.

Reasons include a remedy if the person who runs the server can mend the error.
"""

from __future__ import annotations

import socket
import sqlite3

import sqlalchemy as sa

from arena.server.store import migrations, sqlite


class StoreError(Exception):
    """Raised when the database cannot be used; the message is one line with the database and the reason."""


class OperationRefused(Exception):
    """Raised for a request that the store's contents or the server do not allow; the message is a one-line reason."""


REASON_BY_SQLITE_ERROR_CODE = {
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened: check that this user may read and write it and its folder",
    sqlite3.SQLITE_CORRUPT: "the file is damaged: restore an intact backup with `arena restore`",
    sqlite3.SQLITE_FULL: "the disk is full: free some space",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written: look for its errors in the system's log",
    sqlite3.SQLITE_NOTADB: "the file is not a database: name another file",
    sqlite3.SQLITE_PERM: "this user may not write the file: run the command as the user of the server",
    sqlite3.SQLITE_READONLY: "this user may not write the file: run the command as the user of the server",
}
"""Reason and remedy of each SQLite error that the user can mend, by SQLite's primary error code."""
REMEDY_BY_POSTGRESQL_ERROR_CODE = {
    "28000": "check the user in the URL, and PostgreSQL's pg_hba.conf",
    "28P01": "check the password in the URL or in the file that ARENA_DB_PASSWORD_FILE names",
    "3D000": "create it with `createdb`, or name another one",
    "25006": "name the primary server, not a standby",
    "42501": "make this user the owner of the database",
    "53100": "free some space on the disk of PostgreSQL",
    "53300": "raise max_connections of PostgreSQL, or end other programs that use it",
    "57P01": "try again when PostgreSQL runs",
    "57P02": "try again when PostgreSQL runs",
    "57P03": "try again when PostgreSQL has started",
}
"""Remedy at the end of the message for each PostgreSQL error that the user can mend, by the error's code (SQLSTATE)."""
DATABASE_DOES_NOT_ANSWER_REMEDY = "check that it runs, and the host and port in its URL"
"""Advice at the end of the error message if PostgreSQL does not answer."""


def describe_database_error(error: Exception) -> str | None:
    """Return a one-line reason for a database error; None for any other exception."""
    is_store_error = isinstance(
        error, sa.exc.SQLAlchemyError | sqlite3.Error | OSError | migrations.UnknownSchema
    )
    # asyncpg's connection errors are not wrapped by SQLAlchemy
    if not is_store_error and not type(error).__module__.startswith("asyncpg."):
        return None
    cause = getattr(error, "orig", None) or error
    if sqlite.get_sqlite_error_code(cause) == sqlite3.SQLITE_BUSY:
        return (
            f"another process has kept the file locked for {sqlite.BUSY_TIMEOUT_SECONDS} s, in the middle of a change;"
            " if that process hangs, end it: `fuser FILE` shows the processes that have the file open"
        )
    return _describe_error_cause(cause)


def describe_store_failure(error: Exception) -> str | None:
    """Return a one-line reason for a database error or a StoreError; None for any other exception."""
    return str(error) if isinstance(error, StoreError) else describe_database_error(error)


def describe_outage(error: Exception) -> str:
    """Return a one-line reason for any error that makes the store unavailable."""
    return describe_store_failure(error) or f"{type(error).__name__}: {error}"


def is_transient_error(error: Exception) -> bool:
    """Return True if a retry may succeed: the database is unavailable, busy, or out of space.

    Return False for a statement that can never succeed, and for an error of another kind.
    """
    if describe_database_error(error) is None or isinstance(error, migrations.UnknownSchema):
        return False
    cause = getattr(error, "orig", None) or error
    # Classes of PostgreSQL error codes: invalid data, a violated constraint, an invalid statement.
    if (getattr(cause, "sqlstate", None) or "")[:2] in ("22", "23", "42"):
        return False
    return not isinstance(error, _PERMANENT_DATABASE_ERRORS) and not isinstance(
        cause, (*_PERMANENT_DATABASE_ERRORS, ValueError)
    )


_PERMANENT_DATABASE_ERRORS = (
    sa.exc.IntegrityError,
    sa.exc.ProgrammingError,
    sa.exc.DataError,
    sa.exc.NotSupportedError,
    sa.exc.CompileError,
    sqlite3.IntegrityError,
    sqlite3.ProgrammingError,
    sqlite3.DataError,
    sqlite3.NotSupportedError,
)


def _describe_error_cause(cause: BaseException) -> str:
    """Return a one-line reason for a database driver's error, with a remedy if the user can mend the error."""
    reason = REASON_BY_SQLITE_ERROR_CODE.get(sqlite.get_sqlite_error_code(cause))
    if reason is not None:
        return reason
    state = getattr(cause, "sqlstate", None) or ""
    # SQLAlchemy's copy of an asyncpg error puts the name of the class before the text, so the original is shown.
    text = _get_first_line(cause.__cause__ if state and cause.__cause__ is not None else cause)
    if state in REMEDY_BY_POSTGRESQL_ERROR_CODE:
        return f"{text}: {REMEDY_BY_POSTGRESQL_ERROR_CODE[state]}"
    if isinstance(cause, socket.gaierror):
        return "the host in the URL is unknown: check its name"
    if isinstance(cause, TimeoutError) and not str(cause):
        return f"the database does not answer in time: {DATABASE_DOES_NOT_ANSWER_REMEDY}"
    # Connection errors of the operating system have a number. A missing Unix socket gives one without a file name.
    if (
        isinstance(cause, ConnectionError | FileNotFoundError)
        and cause.errno is not None
        and cause.filename is None
    ):
        return f"the database does not answer: {DATABASE_DOES_NOT_ANSWER_REMEDY}"
    if isinstance(cause, OSError) and cause.filename is not None:
        return f"{cause.strerror}: check the path, and that this user may write there"
    return text


def _get_first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
