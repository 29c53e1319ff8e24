"""The order in which finished matches came into the store: `matches.arrival`, a number that grows.

Ratings count in this order, and not by times: clocks of servers differ, and may be wrong by years. Whoever counts
must find every match that has a lower number than the one it counts. SQLite has one writer. On PostgreSQL a
transaction that gives numbers, and one that counts, keep each other out.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from arena.server.store.database import WRITER
from arena.server.store.schema import ARRIVAL, matches


def next_arrival(kind: str) -> sa.ColumnElement[Any]:
    """The next number, as a value in a statement for a database of this kind."""
    if kind == "postgresql":
        return ARRIVAL.next_value()
    latest = matches.alias("latest")
    over = latest.c.finished.is_not(None)
    return sa.select(sa.func.coalesce(sa.func.max(latest.c.arrival), 0) + 1).where(over).scalar_subquery()


def let_nobody_count(connection: sa.Connection) -> None:
    """Make the transaction that begins here one that gives numbers. Many may do so beside each other."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock_shared(WRITER)))
