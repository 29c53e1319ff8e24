"""Schema versions of a store: create the tables in an empty database, or migrate an older version."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from arena.server.processes.identity import PROGRAM
from arena.server.store import schema

SCHEMA_VERSION = 11
"""Schema version that this program uses: the first that was released."""

STEPS: dict[int, Callable[[Connection], None]] = {}
"""Migration from each schema version to the next, by the earlier version.

A release that changes `server.store.schema` adds the step from the preceding version.
"""


class UnknownSchema(Exception):
    """Raised when the store was written by another program, or by an unknown version of this one."""


def schema_version(connection: Connection) -> int | None:
    """Return the schema version of a store; None for a database without tables.

    Raises UnknownSchema for other tables.
    """
    tables = set(sa.inspect(connection).get_table_names())
    if not tables:
        return None
    if schema.about.name not in tables:
        raise UnknownSchema(
            f"not a store of this program: it has the tables {', '.join(sorted(tables))[:100]}"
        )
    version = connection.execute(sa.select(schema.about.c.schema_version)).scalar_one_or_none()
    if not isinstance(version, int):
        raise UnknownSchema("not a store: its table `about` has no schema version")
    return version


def require_current(connection: Connection) -> None:
    """Raise UnknownSchema unless the store has this program's schema version."""
    version = schema_version(connection)
    if version is None:
        raise UnknownSchema("not a store: the database has no tables")
    if version != SCHEMA_VERSION:
        raise _unknown_schema(connection, version)


def migrations_from(connection: Connection, version: int) -> list[Callable[[Connection], None]]:
    """Return the migrations from `version` to `SCHEMA_VERSION`. Raises UnknownSchema if one is missing."""
    if version > SCHEMA_VERSION or any(each not in STEPS for each in range(version, SCHEMA_VERSION)):
        raise _unknown_schema(connection, version)
    return [STEPS[each] for each in range(version, SCHEMA_VERSION)]


def migrate(connection: Connection, steps: Iterable[Callable[[Connection], None]]) -> None:
    """Apply migrations to a store and set its version to `SCHEMA_VERSION`, in the caller's transaction."""
    for step in steps:
        step(connection)
    connection.execute(sa.update(schema.about).values(schema_version=SCHEMA_VERSION, program=PROGRAM))


def _unknown_schema(connection: Connection, version: int) -> UnknownSchema:
    program = connection.execute(sa.select(schema.about.c.program)).scalar()
    return UnknownSchema(
        f"it has schema {version}, written by {program or 'another version'}, but {PROGRAM} needs schema"
        f" {SCHEMA_VERSION}: use a version that knows schema {version}, or restore a backup into an empty store"
    )


def create_tables(connection: Connection) -> None:
    """Create all tables in an empty database."""
    dialect = connection.dialect
    statements = _creation_statements(f"{dialect.name}+{dialect.driver}://")
    if dialect.driver == "asyncpg":
        # all in one message, because the database may be far away
        adapted: Any = connection.connection.dbapi_connection
        adapted.run_async(lambda driver: driver.execute(";".join(statements)))
    else:
        for statement in statements:
            connection.exec_driver_sql(statement)
    connection.execute(sa.insert(schema.about).values(schema_version=SCHEMA_VERSION, program=PROGRAM))


@cache
def _creation_statements(url: str) -> list[str]:
    """Return the statements that create the tables of a database at such a URL. Compiling them takes longer than running them."""
    statements: list[str] = []

    def collect_statement(statement: sa.DDLElement, *_given: object, **_more: object) -> None:
        statements.append(str(statement.compile(dialect=described.dialect)))

    described = sa.create_mock_engine(url, collect_statement)
    schema.metadata.create_all(described, checkfirst=False)
    # Of two equally suitable indices SQLite uses the one created last, and SQLAlchemy creates them in any order. This one
    # must be last, so that a search for uncounted matches does not scan all matches.
    schema.UNCOUNTED.drop(described)
    schema.UNCOUNTED.create(described)
    return statements
