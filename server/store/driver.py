"""Statements in the form of a database's driver, for what every commit needs.

SQLite's driver is asked itself where its calls block: the way to it through SQLAlchemy takes ten times as long as the
database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa


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
