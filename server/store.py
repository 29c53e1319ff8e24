"""The tables of the store, and how a database is opened: SQLite by default, PostgreSQL by URL.

A match is one row of `matches`; everything that happened in it is in `events`, in order. The finished
match's record is kept beside its row. Nothing is ever changed but the `record` that a match gets at
its end, so a reader needs no lock.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

SCHEMA_VERSION = 1

metadata = sa.MetaData()

about = sa.Table("about", metadata, sa.Column("schema_version", sa.Integer, nullable=False))

matches = sa.Table(
    "matches",
    metadata,
    sa.Column("match", sa.String(64), primary_key=True),
    sa.Column("event", sa.String(128), nullable=False, index=True),
    sa.Column("game", sa.String(64), nullable=False),
    sa.Column("maxie", sa.String(64), nullable=False),
    sa.Column("minnie", sa.String(64), nullable=False),
    sa.Column("terms", sa.Text, nullable=False),  # JSON: setup, time control, margin, limits
    sa.Column("started", sa.String(32), nullable=False),  # ISO 8601, UTC
    sa.Column("rated", sa.Boolean, nullable=False, default=False),
    sa.Column("finished", sa.String(40), nullable=True),  # ISO 8601, UTC, microseconds
    sa.Column("record", sa.Text, nullable=True),  # arena-record/1, once it is over
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("hash", sa.String(64), nullable=False),  # SHA-256, hex
)

events = sa.Table(
    "events",
    metadata,
    sa.Column("match", sa.String(64), sa.ForeignKey("matches.match"), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("at", sa.BigInteger, nullable=False),  # monotonic ns of the server's run
    sa.Column("event", sa.Text, nullable=False),  # JSON of server.events.Event
)


def now() -> str:
    """The wall clock's time as the store keeps it: ISO 8601, UTC, to the millisecond."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


class StoreError(Exception):
    """The database cannot be used: one line that says which and why."""


def make_engine(url: str, *, lasting: bool = True) -> AsyncEngine:
    """An engine for `sqlite:///FILE` or `postgresql://…`. Raises StoreError for any other URL.

    lasting False is for a database that is thrown away: it then need not survive a loss of power.
    """
    try:
        parsed = sa.make_url(url)
    except ArgumentError:
        raise StoreError(f"{url!r} is no database URL: write sqlite:///arena.db or postgresql://…") from None
    kind = parsed.get_backend_name()
    if kind == "sqlite":
        folder = Path(parsed.database or "").parent
        if not folder.is_dir():
            raise StoreError(f"cannot make {parsed.database}: there is no folder {folder}")
        engine = create_async_engine(parsed.set(drivername="sqlite+aiosqlite"))
        sync = "FULL" if lasting else "OFF"

        @sa.event.listens_for(engine.sync_engine, "connect")
        def _pragmas(connection: DBAPIConnection, _record: object) -> None:
            cursor = connection.cursor()
            for pragma in ("journal_mode=WAL", f"synchronous={sync}", "foreign_keys=ON", "busy_timeout=5000"):
                cursor.execute(f"PRAGMA {pragma}")
            cursor.close()

        return engine
    if kind == "postgresql":
        return create_async_engine(parsed.set(drivername="postgresql+asyncpg"))
    raise StoreError(f"no database of kind {kind!r}: write sqlite:///arena.db or postgresql://…")


async def prepare(engine: AsyncEngine) -> None:
    """Make the tables where there are none. Raises StoreError for a store of another version."""
    try:
        async with engine.begin() as connection:
            await connection.run_sync(metadata.create_all)
            version = (await connection.execute(sa.select(about.c.schema_version))).scalar_one_or_none()
            if version is None:
                await connection.execute(sa.insert(about).values(schema_version=SCHEMA_VERSION))
            elif version != SCHEMA_VERSION:
                raise StoreError(f"the store has schema {version}, and this program needs {SCHEMA_VERSION}")
    except (sa.exc.SQLAlchemyError, OSError) as error:
        why = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise StoreError(f"cannot use {engine.url.render_as_string(hide_password=True)}: {why}") from None
