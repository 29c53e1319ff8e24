"""Database of a simulated arena: SQLite in memory. Calls of the database take virtual time, and use no threads.

A fault can make the database unreachable, full or slow, or let it report an error for a commit that has succeeded.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import aiosqlite
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from arena.server.store import database, sqlite
from arena.server.store.journal.sqlite_writer import SqliteWriter
from arena.server.store.lease import reacquire_lease
from testkit.simulation.world import NS_PER_MS, START_UNIX_TIME_NS, SimulatedProcess, World

NS_PER_DAY = 86_400 * 1_000_000_000
JULIAN_DAY_OF_UNIX_EPOCH = 2440587.5
"""Julian day of 1970-01-01. The simulation's replacement for SQLite's function `julianday` adds the virtual time to it."""


class SimulatedStore:
    """Database that all processes of a simulated arena share.

    is_unreachable: True while no process can reach the database
    is_full: True while writes fail
    stalled_until_ns: virtual time in ns before which the database answers no call
    """

    _instance_count = 0

    def __init__(self, world: World) -> None:
        SimulatedStore._instance_count += 1
        self.world = world
        self.is_unreachable = False
        self.is_full = False
        self.stalled_until_ns = 0
        self.has_doubtful_commits = False
        """True while writes succeed, but an error is raised as if they might have failed."""
        self.on_commit: Callable[[SimulatedProcess, Any, Any], None] = lambda _process, _changes, _lease: None
        """Function that is called after each commit of events, with the process, its `JournalChanges` and its lease."""
        self.on_write: Callable[[SimulatedProcess, int], None] = lambda _process, _number: None
        """Function that is called after each transaction that is not a commit of events, with the process and a number.

        The number is 1 if the transaction has taken the lease again, which raises the fencing token by 1; otherwise 0.
        """
        self._name = f"file:/simulation-{SimulatedStore._instance_count}?vfs=memdb"
        self._rng = world.make_random_generator("store")
        self.raw_connection = self._connect()
        """Connection for the checks of invariants, which also keeps the in-memory database alive."""
        self.engine = self._make_engine()

    def _connect(self) -> sqlite3.Connection:
        raw = sqlite3.connect(self._name, uri=True, check_same_thread=False, isolation_level=None)
        raw.create_function(
            "julianday",
            1,
            lambda _now: JULIAN_DAY_OF_UNIX_EPOCH + (START_UNIX_TIME_NS + self.world.now_ns) / NS_PER_DAY,
        )
        raw.execute("PRAGMA foreign_keys=ON")
        raw.execute("PRAGMA busy_timeout=0")
        return raw

    def _make_engine(self) -> AsyncEngine:
        async def connect(*_given: Any, **_named: Any) -> InlineConnection:
            process = self.world.running_process
            if process is not None:
                stalled = max(0, self.stalled_until_ns - self.world.now_ns)
                await asyncio.sleep((stalled + self.draw_latency_ns()) / 1e9)
                self.require_reachable(process)
            return InlineConnection(self._connect())

        engine = create_async_engine(
            "sqlite+aiosqlite://",
            async_creator=connect,
            poolclass=sa.NullPool,
            execution_options={"durable": True},
        )

        @sa.event.listens_for(engine.sync_engine, "connect")
        def _register_connection(_connection: Any, record: Any) -> None:
            record.info[sqlite.QUERY_DEADLINE_INFO_KEY] = sqlite.QueryDeadline()

        return engine

    def make_writing_engine(self, _engine: AsyncEngine) -> sa.Engine:
        """Return a blocking SQLAlchemy engine that writes to the simulated database, in place of
        `database.make_blocking_engine`.
        """
        twin = sa.create_engine("sqlite://", creator=self._connect, poolclass=sa.NullPool)

        @sa.event.listens_for(twin, "begin")
        def _begin(connection: sa.Connection) -> None:
            connection.exec_driver_sql(sqlite.BEGIN_TRANSACTION_SQL)

        return twin

    def format_wall_time(self, offset: timedelta = timedelta(0)) -> str:
        """Return the wall-clock time of the running process plus `offset`. Replaces `database.format_current_time`.

        The time runs as fast as the process's monotonic clock.
        """
        process = self.world.running_process
        now = (
            self.world.now_ns
            if process is None
            else self.world.now_ns + self.world.now_ns * process.clock_drift_ppm // 1_000_000
        )
        return database.format_store_timestamp(
            datetime.fromtimestamp((START_UNIX_TIME_NS + now) / 1e9, UTC) + offset
        )

    # latency and failures

    def draw_latency_ns(self) -> int:
        """Return a random duration, in virtual ns, of a call to the database. The time that the call waits for other calls is
        not included.
        """
        return self._rng.randrange(NS_PER_MS // 5, 3 * NS_PER_MS)

    def require_reachable(self, process: SimulatedProcess) -> None:
        """Raise sqlite3.OperationalError, as a database driver would, if `process` cannot reach the database."""
        if self.is_unreachable or process.is_store_cut:
            raise sqlite3.OperationalError("unable to open database file")

    def load_fencing_token(self, server_name: str) -> int:
        """Return the current fencing token of the lease on a server's name; 0 if no server has taken it."""
        row = self.raw_connection.execute(
            "SELECT number FROM servers WHERE name = ?", (server_name,)
        ).fetchone()
        return 0 if row is None else int(row[0])

    def make_writer_thread(self, _name: str) -> SimulatedWriterThread:
        """Return the replacement for the thread of a store writer."""
        return SimulatedWriterThread(self)

    def close(self) -> None:
        """Close the connection `raw_connection`. The end of the last connection deletes the in-memory database."""
        self.raw_connection.close()


class SimulatedWriterThread:
    """Replacement for the thread of a store writer, which runs operations as events of a simulated process.

    One event runs the operation, and a later event delivers the result.
    """

    def __init__(self, store: SimulatedStore) -> None:
        process = store.world.running_process
        assert process is not None
        self.undelivered_call_count = 0
        self._store = store
        self._process: SimulatedProcess = process
        self._free_at_ns = 0

    def run_in_thread(self, operation: Callable[[], Any]) -> Awaitable[Any]:
        future = asyncio.get_running_loop().create_future()
        self.undelivered_call_count += 1
        store = self._store
        self._free_at_ns = (
            max(store.world.now_ns, store.stalled_until_ns, self._free_at_ns) + store.draw_latency_ns()
        )
        self._process.schedule(partial(self._run_operation, future, operation), self._free_at_ns)
        return future

    def _run_operation(self, future: asyncio.Future[Any], operation: Callable[[], Any]) -> None:
        result, error = None, None
        store, process = self._store, self._process
        inner = _unwrap_operation(operation)
        kind = getattr(getattr(inner, "func", inner), "__func__", None)
        is_write = kind in (SqliteWriter._commit, SqliteWriter._run_transaction)
        try:
            if kind is not sa.Connection.close:
                store.require_reachable(process)
            if is_write and store.is_full:
                raise sqlite3.OperationalError("database or disk is full")  # noqa: TRY301  as the driver raises it
            result = operation()
        except Exception as raised:  # noqa: BLE001  raised where the call is waited for
            error = raised
        else:
            if is_write:
                self._call_write_callback(kind, inner)
            if is_write and store.has_doubtful_commits:
                error = sqlite3.OperationalError("disk I/O error")
        deliver = partial(self._deliver_result, future, result, error)
        self._process.schedule(deliver, store.world.now_ns + store._rng.randrange(NS_PER_MS // 10, NS_PER_MS))

    def _call_write_callback(self, writer_method: object, operation: Any) -> None:
        store, process = self._store, self._process
        if writer_method is SqliteWriter._commit:
            store.on_commit(process, *operation.args)
        else:
            [inner] = operation.args
            store.on_write(process, int(getattr(inner, "func", None) is reacquire_lease))

    def _deliver_result(self, future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
        self.undelivered_call_count -= 1
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def close(self) -> None:
        pass


def _unwrap_operation(writer_call: Any) -> Any:
    """Return the operation inside a call to the writer's thread, without the wrappers that make it wait for SQLite's locks."""
    while (
        getattr(getattr(writer_call, "func", None), "__func__", None) is SqliteWriter._run_waiting_for_locks
    ):
        [writer_call] = writer_call.args
    return writer_call


class InlineConnection(aiosqlite.Connection):
    """Connection of aiosqlite that runs its operations at once in the caller instead of in a thread."""

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._running = True
        self._connection = raw
        self._iter_chunk_size = 64

    async def _execute(self, fn: Any, *args: Any, **named: Any) -> Any:
        return fn(*args, **named)

    async def close(self) -> None:
        self.stop()

    def stop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        self.stop()
