"""The versions of the store's schema, and the way from each to the next, by Alembic.

For a new version, add a file to `versions/` whose `revision` is the next number in four digits and whose
`down_revision` is the last, raise `SCHEMA_VERSION`, and change the tables in `server.store.schema` to match; a
test compares the two. A file that has been released is never changed.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy.engine import Connection

SCHEMA_VERSION = 2
"""What this program reads and writes; the last revision is this number in four digits."""


class UnknownSchema(Exception):
    """The store was written by another program, or by a later version of this one."""


def configuration(connection: Connection) -> Config:
    """Alembic's configuration for migrations over an open connection."""
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
    version = connection.execute(sa.text("SELECT schema_version FROM about")).scalar_one_or_none()
    if not isinstance(version, int):
        raise UnknownSchema("it does not say which version it is")
    return version


def upgrade(connection: Connection) -> None:
    """Bring the store to `SCHEMA_VERSION`, in the caller's transaction. Raises UnknownSchema."""
    version = version_of(connection)
    if version == SCHEMA_VERSION:
        return
    if version is not None and not 1 <= version < SCHEMA_VERSION:
        raise UnknownSchema(
            f"it has schema {version}, and this program knows schemas up to {SCHEMA_VERSION}: use the version that wrote it"
        )
    command.upgrade(configuration(connection), "head")
    connection.execute(sa.text("UPDATE about SET schema_version = :version"), {"version": SCHEMA_VERSION})
