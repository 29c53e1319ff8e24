"""Schema of a store by version: creation in an empty database, and migration of older versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.engine.mock import MockConnection

from arena.server.processes.identity import PROGRAM
from arena.server.store import schema

SCHEMA_VERSION = 10
"""Schema version of this program. No earlier version was released."""

STEPS: dict[int, Callable[[Connection], None]] = {}
"""Migration from each version to the next.

A release that changes `schema` adds the step from the preceding version.
"""


class UnknownSchema(Exception):
    """Raised when the store was written by another program, or by an unknown version of this one."""


def version_of(connection: Connection) -> int | None:
    """Return the schema version of a store, or None for a database without tables. Raises UnknownSchema."""
    tables = set(sa.inspect(connection).get_table_names())
    if not tables:
        return None
    if schema.about.name not in tables:
        raise UnknownSchema(f"it is not a store: it has the tables {', '.join(sorted(tables))[:100]}")
    version = connection.execute(sa.select(schema.about.c.schema_version)).scalar_one_or_none()
    if not isinstance(version, int):
        raise UnknownSchema("it has no schema version")
    return version


def require_current(connection: Connection) -> None:
    """Require that the store has this version. Raises UnknownSchema."""
    version = version_of(connection)
    if version is None:
        raise UnknownSchema("it is not a store: it is empty")
    if version != SCHEMA_VERSION:
        raise _unknown(connection, version)


def steps_from(connection: Connection, version: int) -> list[Callable[[Connection], None]]:
    """Return the migrations from `version` to this version. Raises UnknownSchema if one is missing."""
    if version > SCHEMA_VERSION or any(each not in STEPS for each in range(version, SCHEMA_VERSION)):
        raise _unknown(connection, version)
    return [STEPS[each] for each in range(version, SCHEMA_VERSION)]


def migrate(connection: Connection, steps: Iterable[Callable[[Connection], None]]) -> None:
    """Migrate a store of an older version to this one, in the caller's transaction."""
    for step in steps:
        step(connection)
    connection.execute(sa.update(schema.about).values(schema_version=SCHEMA_VERSION, program=PROGRAM))


def _unknown(connection: Connection, version: int) -> UnknownSchema:
    program = connection.execute(sa.select(schema.about.c.program)).scalar()
    return UnknownSchema(
        f"it has schema {version}, written by {program or 'another version'}, and this is {PROGRAM}, which knows"
        f" schema {SCHEMA_VERSION}: use a version that knows it, or restore a backup into an empty store"
    )


def make(connection: Connection) -> None:
    """Create all tables in an empty database."""
    if connection.dialect.driver == "asyncpg":
        # all in one message, because the database may be far away
        adapted: Any = connection.connection.dbapi_connection
        adapted.run_async(lambda driver: driver.execute(_script()))
    else:
        _make_tables(connection)
    connection.execute(sa.insert(schema.about).values(schema_version=SCHEMA_VERSION, program=PROGRAM))


def _make_tables(connection: Connection | MockConnection) -> None:
    schema.metadata.create_all(connection, checkfirst=False)
    # Of two equally suitable indices SQLite uses the one created last, and SQLAlchemy creates them in any order. This one
    # must be last, so that a search for uncounted matches does not scan all matches.
    schema.UNCOUNTED.drop(connection)
    schema.UNCOUNTED.create(connection)


@cache
def _script() -> str:
    """Return the statements that create the tables on PostgreSQL."""
    statements: list[str] = []

    def keep(statement: sa.DDLElement, *_given: object, **_more: object) -> None:
        statements.append(str(statement.compile(dialect=described.dialect)))

    described = sa.create_mock_engine("postgresql+asyncpg://", keep)
    _make_tables(described)
    return ";".join(statements)
