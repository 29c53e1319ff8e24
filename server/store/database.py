"""Access to a database: SQLite by default, PostgreSQL by URL. The tables are in `server.store.schema`."""

from __future__ import annotations

import hashlib
import logging
import math
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import anyio
import sqlalchemy as sa
from anyio.lowlevel import checkpoint, checkpoint_if_cancelled
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from arena.clock import MONOTONIC_CLOCK, TimeSource, get_seconds_to_task_deadline
from arena.processes.identity import ProcessIdentity, identify_this_process
from arena.server.store import migrations
from arena.server.store import sqlite as sqlite_driver
from arena.server.store.errors import StoreError, describe_database_error

T = TypeVar("T")

log = logging.getLogger("arena.store")

Engine = AsyncEngine
"""SQLAlchemy engine through which the functions of `server.store` use the database."""

DATABASE_PASSWORD_FILE_ENV_VARIABLE = "ARENA_DB_PASSWORD_FILE"  # noqa: S105  a name, not a password
"""Name of the environment variable with the path of a file that holds the PostgreSQL password."""


ALLOWED_POSTGRESQL_URL_PARAMETERS = frozenset(
    {"host", "port", "ssl", "sslmode", "user", "password", "database"}
)
"""Parameters allowed after the `?` of a PostgreSQL URL."""

MAX_PERIODIC_JOB_RETRY_PAUSE_SECONDS = 2.0
"""Longest pause before a periodic job runs again after a database error, in seconds."""
MAX_SECONDS_PAST_QUERY_DEADLINE = 2.0
"""Seconds past the deadline of a query after which PostgreSQL is assumed to hang, and the query's connection is closed."""


class DatabaseTimeouts(NamedTuple):
    """Time limits for connections, commands and idle transactions in PostgreSQL, in seconds."""

    command_seconds: float = 60
    """Maximum time for one command, in seconds. Without this limit, callers would wait forever for a database that hangs."""
    connect_seconds: float = 10
    """Maximum time for opening a connection, in seconds."""
    transaction_idle_seconds: float = 10
    """Maximum pause between two statements of a transaction, in seconds.

    After a longer pause, PostgreSQL ends the connection, so that a standby can acquire the locks of a process that hangs.
    """

    @property
    def postgresql_idle_timeout(self) -> str:
        """`transaction_idle_seconds` as a value of PostgreSQL's `idle_in_transaction_session_timeout`, such as `10000ms`."""
        return f"{round(1000 * self.transaction_idle_seconds)}ms"


DEFAULT_DATABASE_TIMEOUTS = DatabaseTimeouts()
"""Database time limits for every process, except the server processes of a cluster."""
CORE_DATABASE_TIMEOUTS = DatabaseTimeouts(command_seconds=10, connect_seconds=3, transaction_idle_seconds=1.5)
"""Database time limits for a core process of a cluster, which runs matches.

The limits are short, so that a standby core process can take over the matches within seconds.
"""
EDGE_DATABASE_TIMEOUTS = CORE_DATABASE_TIMEOUTS._replace(command_seconds=30)
"""Database time limits for an edge process of a cluster, which holds connections of clients.

The limit for a command is longer than a core process's, because a change by an owner or an admin may have to wait for a slow
command such as `arena season close`. The time limit of the HTTP request (`server.web.routes`) ends such a wait.
"""


def format_current_time(offset: timedelta = timedelta(0)) -> str:
    """Return the current time plus `offset` in the store's format: ISO 8601, UTC, with milliseconds."""
    return format_store_timestamp(datetime.now(UTC) + offset)


def format_store_timestamp(time: datetime) -> str:
    """Return `time` in the store's format: ISO 8601, UTC, with milliseconds. Such texts sort in order of time."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def make_engine(
    url: str,
    *,
    is_durable: bool = True,
    timeouts: DatabaseTimeouts = DEFAULT_DATABASE_TIMEOUTS,
    display_name: str = "",
) -> Engine:
    """Return an SQLAlchemy engine for `sqlite:///FILE` or `postgresql://…`. No connection is opened yet.

    is_durable: False for a temporary SQLite file, which need not survive a power failure and so is faster
    timeouts: time limits for PostgreSQL
    display_name: name of a temporary SQLite file in error messages; empty for its URL

    Raises StoreError for any other URL or an unsupported option in it, for an SQLite file in a folder that does not
    exist, and if the password file that ARENA_DB_PASSWORD_FILE names cannot be read.
    """
    try:
        parsed = sa.make_url(url)
    except (ArgumentError, ValueError):
        # The URL may contain a password, and the message may be logged.
        safe_url = re.sub(r"^([^:/]*:?/*).*@", r"\1…@", url)
        raise StoreError(
            f"{safe_url!r} is not a database URL: write sqlite:///arena.db or postgresql://…"
        ) from None
    backend = parsed.get_backend_name()
    if backend == "sqlite":
        return _make_sqlite_engine(parsed, is_durable=is_durable, display_name=display_name)
    if backend == "postgresql":
        return _make_postgresql_engine(parsed, timeouts)
    raise StoreError(f"unsupported kind of database {backend!r}: write sqlite:///arena.db or postgresql://…")


@asynccontextmanager
async def open_engine(
    url: str,
    *,
    is_durable: bool = True,
    timeouts: DatabaseTimeouts = DEFAULT_DATABASE_TIMEOUTS,
    display_name: str = "",
) -> AsyncIterator[Engine]:
    """Open an engine as `make_engine` does. Close its connections after the `async with` block, even on cancellation.

    Each SQLite connection that stayed open would leave a thread running.
    """
    engine = make_engine(url, is_durable=is_durable, timeouts=timeouts, display_name=display_name)
    try:
        yield engine
    finally:
        with anyio.CancelScope(shield=True):
            await engine.dispose()


def get_database_display_name(engine: Engine) -> str:
    """Return the name of an SQLAlchemy engine's database in error messages: the display name, or the URL without password."""
    # Leave out the name of the driver, which is not part of the URL that the user gave.
    url = engine.url.set(drivername=engine.url.get_backend_name())
    return engine.get_execution_options().get("display_name") or url.render_as_string(hide_password=True)


def parse_sqlite_path(url: str) -> Path | None:
    """Return the file that an SQLite URL names; None for any other text."""
    try:
        parsed = sa.make_url(url)
    except (ArgumentError, ValueError):
        return None
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        return None
    return Path(parsed.database)


def _make_sqlite_engine(url: sa.URL, *, is_durable: bool, display_name: str) -> Engine:
    if not url.database or url.database == ":memory:":
        raise StoreError(
            "the store cannot be in memory, because several connections share it: write sqlite:///arena.db"
        )
    file = Path(url.database)
    try:
        if file.is_dir():
            raise StoreError(f"{file} is a folder: name a file in it, as in sqlite:///{file / 'arena.db'}")
        if not file.parent.is_dir():
            raise StoreError(f"cannot create {file}: folder {file.parent} does not exist; create it first")
    except OSError as error:
        raise StoreError(f"cannot open {file}: {error.strerror}") from None
    options = {"durable": is_durable, "display_name": display_name}
    engine = create_async_engine(url.set(drivername="sqlite+aiosqlite"), execution_options=options)
    sqlite_driver.set_pragmas_on_connect(engine.sync_engine)

    @sa.event.listens_for(engine.sync_engine, "do_connect")
    def _make_private_file(*_given: object) -> None:
        sqlite_driver.create_private_file(file)

    return engine


def make_blocking_engine(engine: Engine) -> sa.Engine:
    """Return an SQLAlchemy engine with blocking calls for the SQLite file of `engine`. Any thread may use its connections.

    Each transaction locks the file for writing from the start, so that data cannot change between its reads and its
    writes.
    """
    blocking_engine = sa.create_engine(
        engine.url.set(drivername="sqlite"),
        # Without this, the driver begins transactions itself, and only before the first write.
        connect_args={"check_same_thread": False, "isolation_level": None},
        execution_options=engine.get_execution_options(),
    )
    sqlite_driver.set_pragmas_on_connect(blocking_engine)

    @sa.event.listens_for(blocking_engine, "begin")
    def _begin_transaction(connection: sa.Connection) -> None:
        connection.exec_driver_sql(sqlite_driver.BEGIN_TRANSACTION_SQL)

    return blocking_engine


def format_database_session_name(process: ProcessIdentity) -> str:
    """Return the `application_name` of all sessions of a process in PostgreSQL, by which another process can end them."""
    machine = process.boot_and_namespace_ids or process.host
    identity = f"{machine} {process.pid} {process.start_ticks}"
    return f"arena {hashlib.blake2s(identity.encode(), digest_size=8).hexdigest()}"


def _make_postgresql_engine(url: sa.URL, timeouts: DatabaseTimeouts) -> Engine:
    unknown_options = sorted(set(url.query) - ALLOWED_POSTGRESQL_URL_PARAMETERS)
    if unknown_options:
        supported_text = ", ".join(sorted(ALLOWED_POSTGRESQL_URL_PARAMETERS))
        raise StoreError(
            f"unsupported option {unknown_options[0]!r} in a PostgreSQL URL; supported are {supported_text}"
        )
    mode = url.query.get("sslmode")
    if mode is not None:
        # sslmode is the name in libpq, and so in many URLs; asyncpg calls the option ssl
        url = url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
    if url.password is None and DATABASE_PASSWORD_FILE_ENV_VARIABLE in os.environ:
        # Other users and processes may see a password in a command line or in the environment.
        file = Path(os.environ[DATABASE_PASSWORD_FILE_ENV_VARIABLE])
        try:
            url = url.set(password=file.read_text(encoding="utf-8").strip())
        except OSError as error:
            raise StoreError(
                f"{DATABASE_PASSWORD_FILE_ENV_VARIABLE}={file} cannot be read: {error.strerror}"
            ) from None
        except UnicodeDecodeError:
            raise StoreError(
                f"{DATABASE_PASSWORD_FILE_ENV_VARIABLE}={file} cannot be read: it must be UTF-8 text"
            ) from None
    try:
        return create_async_engine(
            url.set(drivername="postgresql+asyncpg"),
            # Detects connections that the database has closed, before they are used.
            pool_pre_ping=True,
            connect_args={
                "command_timeout": timeouts.command_seconds,
                "timeout": timeouts.connect_seconds,
                "server_settings": {
                    "application_name": format_database_session_name(identify_this_process()),
                    "idle_in_transaction_session_timeout": timeouts.postgresql_idle_timeout,
                },
            },
        )
    except ArgumentError as error:
        raise StoreError(
            f"{url.render_as_string(hide_password=True)} is not a database URL: {error}"
        ) from None


async def create_or_migrate_store(engine: Engine) -> None:
    """Create the tables in an empty database, or migrate a store of an older version to this program's version.

    Raises StoreError if the database cannot be used, is not a store, or has a version that cannot be migrated. Raises
    lease.LeaseHeld, and changes nothing, if the store has an older version and a running server uses it.
    """
    async with convert_database_errors(engine):
        # First without the lock, because a frozen server may hold it, and its standby opens the store to take over.
        async with open_query_connection(engine) as connection:
            if await connection.run_sync(migrations.read_schema_version) == migrations.SCHEMA_VERSION:
                return
        async with open_exclusive_transaction(engine) as connection:
            if engine.dialect.name == "postgresql":
                # The server does not run yet, so no standby waits, and a busy database may need more time.
                longer_timeout = f"SET LOCAL idle_in_transaction_session_timeout = '{DEFAULT_DATABASE_TIMEOUTS.postgresql_idle_timeout}'"
                await connection.exec_driver_sql(longer_timeout)
            await connection.run_sync(create_or_migrate_tables)


def create_or_migrate_tables(connection: sa.Connection) -> None:
    """Create the tables of a store, or migrate them, in the caller's transaction.

    Raises the same errors as `create_or_migrate_store`.
    """
    version = migrations.read_schema_version(connection)
    if version is None:
        migrations.create_tables(connection)
    elif version != migrations.SCHEMA_VERSION:
        steps = migrations.list_migrations_from(connection, version)
        from arena.server.store.lease import lock_out_servers  # noqa: PLC0415  lease imports this module

        lock_out_servers(connection)
        migrations.apply_migrations(connection, steps)


@asynccontextmanager
async def convert_database_errors(engine: Engine) -> AsyncIterator[None]:
    """Convert database errors in the `async with` block to a StoreError with a one-line message.

    Other exceptions pass unchanged.
    """
    try:
        yield
    except Exception as error:
        why = describe_database_error(error)
        if why is None:
            raise
        raise StoreError(f"cannot use {get_database_display_name(engine)}: {why}") from None


async def run_periodically(
    engine: Engine,
    clock: TimeSource,
    job: Callable[[], Awaitable[None]],
    pause_seconds: float,
    warning_text: str,
) -> None:
    """Run `job` repeatedly, with a pause after each run, until cancelled.

    After a database error, the pause is at most MAX_PERIODIC_JOB_RETRY_PAUSE_SECONDS. Any other exception is raised.

    pause_seconds: length of the pause
    warning_text: beginning of the line that is logged once per outage, such as `the ratings cannot be updated now`
    """
    is_available = True
    while True:
        try:
            async with convert_database_errors(engine):
                await job()
            is_available = True
        except StoreError as error:
            await checkpoint()  # raises if the server is stopping, which closes the store
            if is_available:
                log.warning("%s: %s", warning_text, error)
            is_available = False
        await clock.sleep(
            pause_seconds if is_available else min(pause_seconds, MAX_PERIODIC_JOB_RETRY_PAUSE_SECONDS)
        )


@asynccontextmanager
async def open_store(url: str) -> AsyncIterator[Engine]:
    """Open a store for the `async with` block. First create or migrate its tables if necessary (`create_or_migrate_store`).

    Raises StoreError if the store cannot be used, and turns database errors inside the block into StoreError.
    """
    async with open_engine(url) as engine:
        await create_or_migrate_store(engine)
        async with convert_database_errors(engine):
            yield engine


@asynccontextmanager
async def open_store_readonly(url: str) -> AsyncIterator[Engine]:
    """Open a store for the `async with` block, with connections that cannot write to it. The tables must exist already.

    Raises StoreError for an invalid URL. Database errors inside the block are raised as they are.
    """
    async with open_engine(url) as engine:
        is_sqlite = engine.dialect.name == "sqlite"
        read_only_statement = (
            "PRAGMA query_only=ON" if is_sqlite else "SET default_transaction_read_only = on"
        )

        @sa.event.listens_for(engine.sync_engine, "connect")
        def _refuse_writes(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
            cursor = connection.cursor()
            cursor.execute(read_only_statement)
            cursor.close()
            connection.commit()

        yield engine


STORE_LOCK_KEY = 0x617265_6E61
"""Key of the PostgreSQL advisory lock that `lock_store_exclusively` acquires. The number is arbitrary."""


@asynccontextmanager
async def open_exclusive_transaction(engine: Engine) -> AsyncIterator[AsyncConnection]:
    """Open a transaction for work that reads before it writes. Only one runs at a time, across all servers.

    The transaction is committed at the end of the `with` block, or rolled back on an exception. A cancellation takes effect
    only after the commit or rollback. Keep the block short: on SQLite, a running server cannot write meanwhile.
    """
    with anyio.CancelScope(shield=True):
        async with engine.begin() as connection:
            await connection.run_sync(lock_store_exclusively)
            yield connection


class TransactionRunner(Protocol):
    """Type of a function that runs an operation in a transaction, such as `Journal.run_in_transaction`."""

    async def __call__(self, operation: Callable[[sa.Connection], T]) -> T:
        """Run `operation` in a transaction, commit it, and return its result."""
        ...


_TRANSACTION_RUNNER_OPTION = "writer"
"""Name of the SQLAlchemy execution option in which `redirect_transactions` stores an engine's TransactionRunner."""


def redirect_transactions(engine: Engine, transaction_runner: TransactionRunner) -> Engine:
    """Return an SQLAlchemy engine for the database of `engine`, with transactions run by `transaction_runner`.

    `run_in_transaction` passes each operation on the returned engine to `transaction_runner`.
    """
    return engine.execution_options(**{_TRANSACTION_RUNNER_OPTION: transaction_runner})


def has_redirected_transactions(engine: Engine) -> bool:
    """Return True if `run_in_transaction` passes operations on this engine to a runner set by `redirect_transactions`.

    In a server, the runner is `Journal.run_in_transaction`.
    """
    return _TRANSACTION_RUNNER_OPTION in engine.get_execution_options()


async def run_in_transaction(engine: Engine, operation: Callable[[sa.Connection], T]) -> T:
    """Run `operation` in a transaction, commit it, and return its result.

    If `engine` comes from `redirect_transactions`, such as `Journal.engine` in a server, the operation is passed to the
    journal. On PostgreSQL, other servers may write during such a transaction, so an operation that reads before it writes must
    begin with `lock_store_exclusively`. With any other engine, `open_exclusive_transaction` opens the transaction.
    """
    if has_redirected_transactions(engine):
        runner: TransactionRunner = engine.get_execution_options()[_TRANSACTION_RUNNER_OPTION]
        return await runner(operation)
    async with open_exclusive_transaction(engine) as connection:
        return await connection.run_sync(operation)


def lock_store_exclusively(connection: sa.Connection) -> None:
    """Acquire the store's exclusive lock for the rest of the transaction. Only one transaction at a time can hold it.

    Call this first in a transaction that reads before it writes. `open_exclusive_transaction` uses the same lock.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(STORE_LOCK_KEY)))
    elif not getattr(connection.connection.driver_connection, "in_transaction", False):
        connection.exec_driver_sql(sqlite_driver.BEGIN_TRANSACTION_SQL)


async def fetch(
    engine: Engine, query: sa.Executable, parameters: Mapping[str, Any] | None = None
) -> sa.Result[*tuple[Any, ...]]:
    """Return the result of one query with all its rows, read through a connection from `open_query_connection`.

    parameters: values of the query's parameters, by name; None for a query without parameters
    """
    async with open_query_connection(engine) as connection:
        # A frozen result has all its rows, and so outlives the connection.
        return (await connection.execute(query, parameters)).freeze()()


@asynccontextmanager
async def open_query_connection(engine: Engine) -> AsyncIterator[AsyncConnection]:
    """Open a connection for a short query.

    The deadline of the enclosing cancel scope is also the deadline of the query. At the deadline, the database stops the query,
    TimeoutError is raised, and the connection stays usable. If PostgreSQL hangs and does not stop the query,
    TimeoutError is raised MAX_SECONDS_PAST_QUERY_DEADLINE later, and the connection is closed. Any other cancellation
    takes effect only after the block.
    """
    await checkpoint_if_cancelled()
    seconds = get_seconds_to_task_deadline()
    end_time = MONOTONIC_CLOCK.now() + seconds
    hang_seconds = MAX_SECONDS_PAST_QUERY_DEADLINE if engine.dialect.name == "postgresql" else math.inf
    with anyio.move_on_after(seconds + hang_seconds, shield=True) as scope:
        try:
            async with engine.connect() as connection:
                if end_time == math.inf:
                    yield connection
                    return
                async with _limit_query_time(connection, end_time):
                    yield connection
        except sa.exc.DBAPIError:
            if MONOTONIC_CLOCK.now() >= end_time:
                raise TimeoutError("the store took too long, and its query was cancelled") from None
            raise
    if scope.cancelled_caught:
        raise TimeoutError("the database hangs")


@asynccontextmanager
async def _limit_query_time(connection: AsyncConnection, end_time_seconds: float) -> AsyncIterator[None]:
    if connection.dialect.name == "postgresql":
        milliseconds = max(1, math.ceil(1000 * (end_time_seconds - MONOTONIC_CLOCK.now())))
        await connection.exec_driver_sql(f"SET LOCAL statement_timeout = {milliseconds}")
        yield
        return
    deadline: sqlite_driver.QueryDeadline = (await connection.get_raw_connection()).info[
        sqlite_driver.QUERY_DEADLINE_INFO_KEY
    ]
    with deadline.limit_query_time(end_time_seconds):
        yield


@asynccontextmanager
async def open_snapshot_connection(engine: Engine) -> AsyncIterator[AsyncConnection]:
    """Open a connection whose reads all show the same state of the store, whatever is written during the `async with` block."""
    async with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            # The driver begins a transaction only before the first write.
            await connection.exec_driver_sql("BEGIN")
        else:
            await connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        yield connection
        await connection.rollback()


@cache
def make_upsert(dialect_name: str, table: sa.Table, summed_columns: tuple[str, ...] = ()) -> sa.Insert:
    """Return an INSERT statement that changes the existing row if there is one with the same primary key.

    In an existing row, the statement adds the new values to the columns `summed_columns`, and replaces the values of all other
    columns. Execute it with rows as parameters, each a dict from column name to value.
    """
    statement = make_insert(dialect_name, table)
    keys = [column.name for column in table.primary_key]
    changes = {
        name: table.c[name] + value if name in summed_columns else value
        for name, value in statement.excluded.items()
        if name not in keys
    }
    return statement.on_conflict_do_update(index_elements=keys, set_=changes)


def make_insert(dialect_name: str, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """Return an INSERT statement with methods for ON CONFLICT. `dialect_name` is `postgresql` or `sqlite`."""
    return postgresql.insert(table) if dialect_name == "postgresql" else sqlite.insert(table)


def split_into_chunks(items: Iterable[T], max_chunk_size: int = 500) -> Iterator[list[T]]:
    """Yield the items in order, in lists of at most `max_chunk_size`. A list of the default size fits in one query."""
    iterator = iter(items)
    while chunk := list(islice(iterator, max_chunk_size)):
        yield chunk
