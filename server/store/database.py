"""How a database is opened and used: SQLite by default, PostgreSQL by URL. The tables are in `server.store.schema`."""

from __future__ import annotations

import math
import os
import re
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import sqlalchemy as sa
from anyio.lowlevel import checkpoint_if_cancelled
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from arena.server.store import migrations
from arena.server.store import sqlite as sqlite_driver

Engine = AsyncEngine
"""A database that is open, as everybody outside the store names it."""

PASSWORD_FILE = "ARENA_DB_PASSWORD_FILE"  # noqa: S105  a name, not a password
"""The environment's name for a file that holds the password of a PostgreSQL URL without one."""


class StoreError(Exception):
    """The database cannot be used: one line that says which and why."""


POSTGRESQL_OPTIONS = frozenset({"host", "port", "ssl", "sslmode", "user", "password", "database"})
"""What may follow the `?` of a PostgreSQL URL."""


class Patience(NamedTuple):
    """How long PostgreSQL is waited for, and waits, in seconds."""

    command: float | None = 60
    """How long it may take for one command: nothing waits for ever for a database that hangs."""
    connect: float = 10
    """How long it may take for a new connection."""
    idle: float = 10
    """How long it waits for the next statement of a transaction before it ends it: a process that stands still in the
    middle of one must not keep its locks, for others wait for them to take its name over."""

    @property
    def idle_timeout(self) -> str:
        """`idle` as PostgreSQL is told of it."""
        return f"{round(1000 * self.idle)}ms"


PATIENCE = Patience()
ARENA_PATIENCE = Patience(command=10, connect=3, idle=1.5)
"""That of servers which take each other's matches over within seconds."""


def now() -> str:
    """The wall clock's time as the store keeps it: ISO 8601, UTC, to the millisecond."""
    return written(datetime.now(UTC))


def written(time: datetime) -> str:
    """A time as the store keeps it. Its order is that of the text."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def make_engine(url: str, *, lasting: bool = True, arena: bool = False) -> AsyncEngine:
    """An engine for `sqlite:///FILE` or `postgresql://…`. Raises StoreError for any other URL.

    lasting  False is for a database that is thrown away: it then need not survive a loss of power
    arena    whether it is that of one of many servers, which wait for each other no longer than a moment
    """
    try:
        parsed = sa.make_url(url)
    except (ArgumentError, ValueError):
        # It may hold a password, and what is told may go into a log.
        shown = re.sub(r"^([^:/]*:?/*).*@", r"\1…@", url)
        raise StoreError(
            f"{shown!r} is no database URL: write sqlite:///arena.db or postgresql://…"
        ) from None
    kind = parsed.get_backend_name()
    if kind == "sqlite":
        return _sqlite(parsed, lasting=lasting)
    if kind == "postgresql":
        return _postgresql(parsed, ARENA_PATIENCE) if arena else _postgresql(parsed)
    raise StoreError(f"no database of kind {kind!r}: write sqlite:///arena.db or postgresql://…")


def file_of(url: str) -> Path | None:
    """The file of an SQLite URL; None for every other URL, also for one that is none."""
    try:
        parsed = sa.make_url(url)
    except (ArgumentError, ValueError):
        return None
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        return None
    return Path(parsed.database)


def _sqlite(url: sa.URL, *, lasting: bool) -> AsyncEngine:
    if not url.database or url.database == ":memory:":
        raise StoreError("the store must be a file, which several connections can share: sqlite:///arena.db")
    folder = Path(url.database).parent
    if not folder.is_dir():
        raise StoreError(f"cannot make {url.database}: there is no folder {folder}")
    options = {"lasting": lasting}
    engine = create_async_engine(url.set(drivername="sqlite+aiosqlite"), execution_options=options)
    sqlite_driver.set_pragmas(engine.sync_engine)
    file = Path(url.database)

    @sa.event.listens_for(engine.sync_engine, "do_connect")
    def _make_file(*_given: object) -> None:
        sqlite_driver.make_private(file)

    return engine


def blocking_twin(engine: AsyncEngine) -> sa.Engine:
    """An engine for the same SQLite file whose calls block, and whose connections may change their thread.

    Its transactions write, and have the file for themselves from their beginning: what they read still holds then.
    """
    twin = sa.create_engine(
        engine.url.set(drivername="sqlite"),
        # The driver is to begin no transaction by itself: it would do so before the first write only.
        connect_args={"check_same_thread": False, "isolation_level": None},
        execution_options=engine.get_execution_options(),
    )
    sqlite_driver.set_pragmas(twin)

    @sa.event.listens_for(twin, "connect")
    def _wait_for_nobody(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
        # Whoever begins a transaction says whether others are waited for, and once it has begun there are none.
        connection.cursor().execute(sqlite_driver.NO_WAIT)

    @sa.event.listens_for(twin, "begin")
    def _begin(connection: sa.Connection) -> None:
        if not sqlite_driver.has_begun(connection):  # as where nobody was to be waited for
            sqlite_driver.begin(connection)

    return twin


def patient_twin(engine: AsyncEngine) -> AsyncEngine:
    """An engine for the same database, for commands that may take as long as they need."""
    if engine.dialect.name == "sqlite":
        return _sqlite(engine.url, lasting=engine.get_execution_options()["lasting"])
    return _postgresql(engine.url, Patience(command=None))


def _postgresql(url: sa.URL, patience: Patience = PATIENCE) -> AsyncEngine:
    unknown = sorted(set(url.query) - POSTGRESQL_OPTIONS)
    if unknown:
        known = ", ".join(sorted(POSTGRESQL_OPTIONS))
        raise StoreError(f"a PostgreSQL URL has no option {unknown[0]!r} here; there are {known}")
    mode = url.query.get("sslmode")
    if mode is not None:
        # libpq's name, which hosts write into the URLs that they hand out; asyncpg calls it ssl
        url = url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
    if url.password is None and PASSWORD_FILE in os.environ:
        # A password in a command line or in the environment is seen by more than who should.
        file = Path(os.environ[PASSWORD_FILE])
        try:
            url = url.set(password=file.read_text(encoding="utf-8").strip())
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError(f"{PASSWORD_FILE}={file} cannot be read: {error}") from None
    try:
        return create_async_engine(
            url.set(drivername="postgresql+asyncpg"),
            # A connection that the database has closed in the meantime is found out before it is used.
            pool_pre_ping=True,
            connect_args={
                "command_timeout": patience.command,
                "timeout": patience.connect,
                "server_settings": {"idle_in_transaction_session_timeout": patience.idle_timeout},
            },
        )
    except ArgumentError as error:
        raise StoreError(f"{url.render_as_string(hide_password=True)} is no database URL: {error}") from None


async def prepare(engine: AsyncEngine) -> None:
    """Make the tables, or bring those of an older version up to date as they are. Raises StoreError."""
    async with usable(engine), exclusive(engine) as connection:
        if engine.dialect.name == "postgresql":
            # Nobody waits to take over from a server that has not come in yet, and a busy one takes its time for this.
            longer = f"SET LOCAL idle_in_transaction_session_timeout = '{PATIENCE.idle_timeout}'"
            await connection.exec_driver_sql(longer)
        await connection.run_sync(migrations.upgrade)


@asynccontextmanager
async def usable(engine: AsyncEngine) -> AsyncIterator[None]:
    """Turns what the database complains of into a StoreError of one line."""
    try:
        yield
    except Exception as error:
        why = complaint(error)
        if why is None:
            raise
        raise StoreError(f"cannot use {engine.url.render_as_string(hide_password=True)}: {why}") from None


def complaint(error: Exception) -> str | None:
    """What a database complains of, in one line; None for whatever else an exception is about."""
    known = isinstance(error, sa.exc.SQLAlchemyError | OSError | migrations.UnknownSchema)
    # asyncpg's refusals of a connection come as they are
    if not known and not type(error).__module__.startswith("asyncpg."):
        return None
    cause = getattr(error, "orig", None) or error
    if sqlite_driver.is_busy(cause):
        return (
            f"another process has kept the file locked for {sqlite_driver.LOCKED_SECONDS} s, in the middle of a change;"
            " if that one stands still, end it: `fuser FILE` names who has the file open"
        )
    return (str(cause) or type(error).__name__).splitlines()[0]


def why_not(error: Exception) -> str | None:
    """Why the store did not do what it was asked for, in one line; None for whatever else an exception is about."""
    return str(error) if isinstance(error, StoreError) else complaint(error)


def may_pass(error: Exception) -> bool:
    """Whether what failed may go well when it is tried again: the database is away, busy, or out of space."""
    if complaint(error) is None or isinstance(error, migrations.UnknownSchema):
        return isinstance(error, TimeoutError)
    lasting = (
        sa.exc.IntegrityError,
        sa.exc.ProgrammingError,
        sa.exc.DataError,
        sa.exc.NotSupportedError,
        sa.exc.CompileError,
    )
    return not isinstance(error, lasting)


@asynccontextmanager
async def open_store(
    url: str, make_ready: Callable[[AsyncEngine], Awaitable[None]] = prepare
) -> AsyncIterator[AsyncEngine]:
    """A store that is ready for use, and closed afterwards. Raises StoreError, also for what comes inside.

    make_ready: `server.store.upgrade.make_ready` for a store of somebody's, of which a backup is kept before it is changed
    """
    engine = make_engine(url)
    try:
        await make_ready(engine)
        async with usable(engine):
            yield engine
    finally:
        await close(engine)


async def close(engine: AsyncEngine) -> None:
    """Close the engine's connections, also when the task is cancelled: else each would leave its thread behind."""
    with anyio.CancelScope(shield=True):
        await engine.dispose()


WRITER = 0x617265_6E61
"""The advisory lock that `exclusive` takes on PostgreSQL; any number that others do not take."""


@asynccontextmanager
async def exclusive(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A transaction beside which no other of this kind runs, on any server: for what reads, then writes.

    It is committed at the end, and rolled back by an exception; a cancelled task waits for its end. Keep it
    short: on SQLite the journal waits.
    """
    with anyio.CancelScope(shield=True):
        async with engine.begin() as connection:
            await connection.run_sync(keep_others_out)
            yield connection


def keep_others_out(connection: sa.Connection) -> None:
    """Make the transaction that begins here one of those of `exclusive`."""
    if connection.dialect.name == "sqlite":
        raw = connection.connection.driver_connection
        if not (isinstance(raw, sqlite3.Connection) and raw.in_transaction):  # as that of a blocking twin is
            connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(WRITER)))


@asynccontextmanager
async def reading(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A connection for a short query, which ends by itself when its task is cancelled.

    The deadline of whoever asks is the query's: the database then gives it up, TimeoutError is raised, and the connection
    is as good as before. A query that is cancelled in any other way costs its connection, and on SQLite leaves a
    thread behind for a while.
    """
    await checkpoint_if_cancelled()
    seconds = anyio.current_effective_deadline() - anyio.current_time()
    end = time.monotonic() + seconds
    with anyio.CancelScope(shield=True):
        try:
            async with engine.connect() as connection, _until(connection, end):
                yield connection
        except sa.exc.DBAPIError:
            if time.monotonic() >= end:
                raise TimeoutError("the store took too long, and its query was cancelled") from None
            raise


@asynccontextmanager
async def _until(connection: AsyncConnection, end: float) -> AsyncIterator[None]:
    if end == math.inf:
        yield
        return
    if connection.dialect.name == "postgresql":
        milliseconds = max(1, math.ceil(1000 * (end - time.monotonic())))
        await connection.exec_driver_sql(f"SET LOCAL statement_timeout = {milliseconds}")
        yield
        return
    patience: sqlite_driver.Patience = (await connection.get_raw_connection()).info[sqlite_driver.PATIENCE]
    with patience.until(end):
        yield


@asynccontextmanager
async def snapshot(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A connection that reads the store as it is now, whatever others write meanwhile."""
    async with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            # The driver itself begins nothing before the first write.
            await connection.exec_driver_sql("BEGIN")
        else:
            await connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        yield connection
        await connection.rollback()


def insert_or_update(
    dialect: str, table: sa.Table, rows: sa.Select[Any, Any, Any, Any] | None = None
) -> sa.Insert:
    """An insert of one row or many that changes the rows whose primary keys are there already.

    rows: what selects them, in the order of the columns, where they are not given
    """
    statement = insert(dialect, table)
    if rows is not None:
        statement = statement.from_select([column.name for column in table.columns], rows)
    keys = [column.name for column in table.primary_key]
    changes = {name: value for name, value in statement.excluded.items() if name not in keys}
    return statement.on_conflict_do_update(index_elements=keys, set_=changes)


def insert(dialect: str, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """An insert that can say what is to be done about rows that are there already."""
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
