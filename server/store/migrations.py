"""Schema versions of a store: create the tables in an empty database, or migrate an older version."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from arena.processes.identity import PROGRAM_NAME_AND_VERSION
from arena.server.store import schema

SCHEMA_VERSION = 11
"""Version of the schema that this program uses. Stores of older versions are migrated by MIGRATION_BY_VERSION."""

MIGRATION_BY_VERSION: dict[int, Callable[[Connection], None]] = {}
"""Migrations: the function for version N changes a store to version N + 1.

There is no migration yet, because version 11 is the first released version. A release that changes `server.store.schema` increases SCHEMA_VERSION, and adds the step from the preceding version.
"""


class UnknownSchema(Exception):
    """Raised when a database is not a store of this program, or has a schema version that this program cannot use.

    The message is a one-line reason.
    """


def read_schema_version(connection: Connection) -> int | None:
    """Return the schema version of a store; None for a database without tables.

    Raises UnknownSchema if the database has tables of another program.
    """
    tables = set(sa.inspect(connection).get_table_names())
    if not tables:
        return None
    if schema.about.name not in tables:
        raise UnknownSchema(
            f"it is not a server's database, but has the tables {', '.join(sorted(tables))[:100]}; name another database"
        )
    version = connection.execute(sa.select(schema.about.c.schema_version)).scalar_one_or_none()
    if not isinstance(version, int):
        raise UnknownSchema(
            "it is not a server's database, because its table `about` has no schema version; name another database"
        )
    return version


def require_current_schema(connection: Connection) -> None:
    """Raise UnknownSchema unless the store has this program's schema version."""
    version = read_schema_version(connection)
    if version is None:
        raise UnknownSchema("it is not a server's database, because it has no tables; name another database")
    if version != SCHEMA_VERSION:
        raise _make_unknown_schema_error(connection, version)


def list_migrations_from(connection: Connection, version: int) -> list[Callable[[Connection], None]]:
    """Return the migrations from `version` to SCHEMA_VERSION, in order.

    Raises UnknownSchema if `version` is newer than SCHEMA_VERSION, or if a migration is missing.
    """
    if version > SCHEMA_VERSION or any(
        number not in MIGRATION_BY_VERSION for number in range(version, SCHEMA_VERSION)
    ):
        raise _make_unknown_schema_error(connection, version)
    return [MIGRATION_BY_VERSION[number] for number in range(version, SCHEMA_VERSION)]


def apply_migrations(connection: Connection, migrations: Iterable[Callable[[Connection], None]]) -> None:
    """Apply migrations to a store in order, and set its version to SCHEMA_VERSION, in the caller's transaction."""
    for step in migrations:
        step(connection)
    connection.execute(
        sa.update(schema.about).values(schema_version=SCHEMA_VERSION, program=PROGRAM_NAME_AND_VERSION)
    )


def _make_unknown_schema_error(connection: Connection, version: int) -> UnknownSchema:
    program = connection.execute(sa.select(schema.about.c.program)).scalar()
    return UnknownSchema(
        f"it has schema {version}, written by {program or 'another version'}, but {PROGRAM_NAME_AND_VERSION} needs schema"
        f" {SCHEMA_VERSION}: use a version that knows schema {version}, or restore a backup into an empty store"
    )


def create_tables(connection: Connection) -> None:
    """Create all tables in an empty database, and store the schema version, in the caller's transaction."""
    schema.metadata.create_all(connection, checkfirst=False)
    # Of two equally suitable indices SQLite uses the one created last, and SQLAlchemy creates them in any order. The
    # index of uncounted matches must be last, so that a search for them does not scan all matches.
    schema.UNCOUNTED_MATCHES_INDEX.drop(connection)
    schema.UNCOUNTED_MATCHES_INDEX.create(connection)
    connection.execute(
        sa.insert(schema.about).values(schema_version=SCHEMA_VERSION, program=PROGRAM_NAME_AND_VERSION)
    )
