"""One-line reasons for errors of SQLite and PostgreSQL, with remedies for the host."""

from __future__ import annotations

import socket
import sqlite3

SQLITE_REASONS = {
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened: check that this user may read and write it and its folder",
    sqlite3.SQLITE_CORRUPT: "the file is damaged: restore an intact backup with `arena restore`",
    sqlite3.SQLITE_FULL: "the disk is full: free some space",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written: look for its errors in the system's log",
    sqlite3.SQLITE_NOTADB: "the file is not a database: name another file",
    sqlite3.SQLITE_PERM: "this user may not write the file: run the command as the user of the server",
    sqlite3.SQLITE_READONLY: "this user may not write the file: run the command as the user of the server",
}
"""Reason and remedy for each primary error code of SQLite that does not result from a fault of this program."""
POSTGRESQL_REMEDIES = {
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
"""Remedy for each error code (SQLSTATE) of PostgreSQL that does not result from a fault of this program."""
NO_ANSWER = "check that it runs, and the host and port in its URL"
"""Remedy if PostgreSQL does not answer."""


def describe_cause(cause: BaseException) -> str:
    """Return a one-line reason for a database driver's error; for an error that the user can mend, with the remedy."""
    reason = SQLITE_REASONS.get((getattr(cause, "sqlite_errorcode", None) or 0) & 0xFF)
    if reason is not None:
        return reason
    state = getattr(cause, "sqlstate", None) or ""
    # SQLAlchemy's copy of an asyncpg error puts the name of the class before the text, so the original is shown.
    text = _get_first_line(cause.__cause__ if state and cause.__cause__ is not None else cause)
    if state in POSTGRESQL_REMEDIES:
        return f"{text}: {POSTGRESQL_REMEDIES[state]}"
    if isinstance(cause, socket.gaierror):
        return "the host in the URL is unknown: check its name"
    if isinstance(cause, TimeoutError) and not str(cause):
        return f"the database does not answer in time: {NO_ANSWER}"
    # Connection errors of the operating system have a number. A missing Unix socket gives one without a file name.
    if (
        isinstance(cause, ConnectionError | FileNotFoundError)
        and cause.errno is not None
        and cause.filename is None
    ):
        return f"the database does not answer: {NO_ANSWER}"
    if isinstance(cause, OSError) and cause.filename is not None:
        return f"{cause.strerror}: check the path, and that this user may write there"
    return text


def _get_first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
