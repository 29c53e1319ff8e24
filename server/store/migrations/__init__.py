"""The versions of the store's schema, and the way from each to the next, by Alembic.

An empty database gets the tables of `server.store.schema` as they are, and is marked as Alembic would mark it, which
is what Alembic's cookbook says ("Building an Up to Date Database from Scratch"). For a new version, add a file to
`versions/` whose `revision` is the next number in four digits and whose `down_revision` is the last, raise
`SCHEMA_VERSION`, and change the tables in `server.store.schema` to match; a test compares what either way makes. A file
that has been released is never changed. `server.store.upgrade` makes a backup before any of them is run on somebody's
store.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from arena.server.processes.identity import PROGRAM
from arena.server.store import schema

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy.engine.mock import MockConnection

SCHEMA_VERSION = 7
"""What this program reads and writes; the last revision is this number in four digits."""

ALEMBIC_TABLE = "alembic_version"
"""Where Alembic keeps the last revision."""

_MARK = sa.Table(
    ALEMBIC_TABLE,
    sa.MetaData(),
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)

ABOUT = sa.table("about", sa.column("schema_version", sa.Integer), sa.column("program", sa.String))
"""The table that tells the version, as every version has it; `program` since schema 3."""


class UnknownSchema(Exception):
    """The store was written by another program, or by a later version of this one."""


def configuration(connection: Connection) -> Config:
    """Alembic's configuration for migrations over an open connection."""
    from alembic.config import Config  # noqa: PLC0415 - slow to load, and seldom needed

    config = Config()
    config.set_main_option("script_location", "server:store/migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def version_of(connection: Connection) -> int | None:
    """The schema version of a store; None for a database without tables. Raises UnknownSchema."""
    tables = set(sa.inspect(connection).get_table_names())
    if not tables:
        return None
    if "about" not in tables:
        raise UnknownSchema(f"it holds something else: the tables {', '.join(sorted(tables))[:100]}")
    version = connection.execute(sa.select(ABOUT.c.schema_version)).scalar_one_or_none()
    if not isinstance(version, int):
        raise UnknownSchema("it does not say which version it is")
    return version


def outdated(connection: Connection) -> int | None:
    """The schema version of a store that has to be brought up to date; None for every other. Raises UnknownSchema."""
    version = version_of(connection)
    if version is None or version == SCHEMA_VERSION:
        return None
    if not 1 <= version < SCHEMA_VERSION:
        raise UnknownSchema(
            f"it has schema {version}, written by {_writer(connection)}, and this is {PROGRAM}, which knows schemas up to"
            f" {SCHEMA_VERSION}: use a version that knows it, or restore a backup from before into an empty store"
        )
    return version


def _writer(connection: Connection) -> str:
    """The program that made the store what it is."""
    columns = {column["name"] for column in sa.inspect(connection).get_columns("about")}
    program = connection.execute(sa.select(ABOUT.c.program)).scalar() if "program" in columns else None
    return program or "another version"


def upgrade(connection: Connection, version: int = SCHEMA_VERSION) -> None:
    """Bring the store to this schema version, in the caller's transaction. Raises UnknownSchema.

    version: an older one is for an empty database only
    """
    before = version_of(connection)
    if before is None and version == SCHEMA_VERSION:
        _make(connection)
    elif before is None or outdated(connection) is not None:
        _migrate(connection, version)


def _make(connection: Connection) -> None:
    """Give an empty database all tables as they are now."""
    if connection.dialect.driver == "asyncpg":
        # all in one message, as the database may be far away
        adapted: Any = connection.connection.dbapi_connection
        adapted.run_async(lambda driver: driver.execute(_script()))
    else:
        _make_tables(connection)
    connection.execute(sa.insert(_MARK).values(version_num=f"{SCHEMA_VERSION:04}"))
    connection.execute(sa.insert(schema.about).values(schema_version=SCHEMA_VERSION, program=PROGRAM))


def _make_tables(connection: Connection | MockConnection) -> None:
    schema.metadata.create_all(connection, checkfirst=False)
    # Of two indices that serve a query alike SQLite takes the one that was made last, and SQLAlchemy makes those of a
    # table in any order: what is not counted yet must not be looked for among all that ever was.
    schema.UNCOUNTED.drop(connection)
    schema.UNCOUNTED.create(connection)
    _MARK.create(connection, checkfirst=False)


@cache
def _script() -> str:
    """What makes the tables on PostgreSQL."""
    statements: list[str] = []

    def keep(statement: sa.DDLElement, *_given: object, **_more: object) -> None:
        statements.append(str(statement.compile(dialect=described.dialect)))

    described = sa.create_mock_engine("postgresql+asyncpg://", keep)
    _make_tables(described)
    return ";".join(statements)


def _migrate(connection: Connection, version: int) -> None:
    from alembic import command  # noqa: PLC0415 - slow to load, and seldom needed

    command.upgrade(configuration(connection), f"{version:04}")
    told: dict[str, object] = {"schema_version": version}
    if version == SCHEMA_VERSION:
        told["program"] = PROGRAM
    connection.execute(sa.update(ABOUT).values(told))
