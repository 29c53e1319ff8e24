"""Database of a simulated world: SQLite in memory, with calls in virtual time in place of threads.

The database can fail, fill up and stall.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import aiosqlite
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from arena.server.store import database, sqlite
from arena.server.store.journal.sqlite_writer import SqliteWriter
from arena.server.store.lease import reacquire_lease
from testkit.simulation.world import EPOCH_NS, MS, SimulatedProcess, World

DAY_NS = 86_400 * 1_000_000_000
UNIX_DAY = 2440587.5
"""Julian day of 1970-01-01."""


class SimulatedStore:
    """Database that all processes of a simulated world share."""

    _count = 0

    def __init__(self, world: World) -> None:
        SimulatedStore._count += 1
        self.world = world
        self.away = False
        self.full = False
        self.stalled_until = 0
        self.doubtful = False
        """True while commits succeed but are reported as failed."""
        self.committed: Callable[[SimulatedProcess, Any, Any], None] = lambda _process, _changes, _lease: None
        """Function that is called with the changes and the lease of each successful commit."""
        self.wrote: Callable[[SimulatedProcess, int], None] = lambda _process, _number: None
        """Function that is called after each other transaction, with the fencing number expected of its writer."""
        self._name = f"file:/simulation-{SimulatedStore._count}?vfs=memdb"
        self._dice = world.random_generator("store")
        self.raw = self._connect()
        """Connection of an observer. The database exists as long as this connection is open."""
        self.engine = self._make_engine()

    def _connect(self) -> sqlite3.Connection:
        raw = sqlite3.connect(self._name, uri=True, check_same_thread=False, isolation_level=None)
        raw.create_function("julianday", 1, lambda _now: UNIX_DAY + (EPOCH_NS + self.world.now) / DAY_NS)
        raw.execute("PRAGMA foreign_keys=ON")
        raw.execute("PRAGMA busy_timeout=0")
        return raw

    def _make_engine(self) -> AsyncEngine:
        async def connect(*_given: Any, **_named: Any) -> InlineConnection:
            process = self.world.process
            if process is not None:
                stalled = max(0, self.stalled_until - self.world.now)
                await asyncio.sleep((stalled + self.draw_latency_ns()) / 1e9)
                self.require_reachable(process)
            return InlineConnection(self._connect())

        engine = create_async_engine(
            "sqlite+aiosqlite://",
            async_creator=connect,
            poolclass=sa.NullPool,
            execution_options={"lasting": True},
        )

        @sa.event.listens_for(engine.sync_engine, "connect")
        def _register_connection(_connection: Any, record: Any) -> None:
            record.info[sqlite.DEADLINE] = sqlite.QueryDeadline()

        return engine

    def make_writing_engine(self, _engine: AsyncEngine) -> sa.Engine:
        """Return a blocking engine that writes to the simulated database, in place of `database.make_blocking_engine`."""
        twin = sa.create_engine("sqlite://", creator=self._connect, poolclass=sa.NullPool)

        @sa.event.listens_for(twin, "begin")
        def _begin(connection: sa.Connection) -> None:
            connection.exec_driver_sql(sqlite.BEGIN)

        return twin

    def wall_time(self) -> str:
        """Return the time of the running process's clock, in place of `database.current_timestamp`."""
        process = self.world.process
        now = (
            self.world.now if process is None else self.world.now + self.world.now * process.ppm // 1_000_000
        )
        return database.format_timestamp(datetime.fromtimestamp((EPOCH_NS + now) / 1e9, UTC))

    # what fails

    def draw_latency_ns(self) -> int:
        """Return a random latency in ns for one call that does not wait for others."""
        return self._dice.randrange(MS // 5, 3 * MS)

    def require_reachable(self, process: SimulatedProcess) -> None:
        """Raise the driver's error if a process cannot reach the database."""
        if self.away or process.stored_cut:
            raise sqlite3.OperationalError("unable to open database file")

    def fencing_number(self, name: str) -> int:
        """Return the fencing number of a name."""
        row = self.raw.execute("SELECT number FROM servers WHERE name = ?", (name,)).fetchone()
        return 0 if row is None else int(row[0])

    def make_writer_thread(self, _name: str) -> SimulatedWriterThread:
        """Return the object that makes the writer's calls, in place of its thread."""
        return SimulatedWriterThread(self)

    def close(self) -> None:
        """Delete the database."""
        self.raw.close()


class SimulatedWriterThread:
    """Replacement for the thread of a store writer, which runs its operations as events of the simulated process.

    One event runs the operation, and a later event delivers the result.
    """

    def __init__(self, store: SimulatedStore) -> None:
        process = store.world.process
        assert process is not None
        self.undelivered_count = 0
        self._store = store
        self._process: SimulatedProcess = process
        self._free_at = 0

    def call(self, operation: Callable[[], Any]) -> Awaitable[Any]:
        future = asyncio.get_running_loop().create_future()
        self.undelivered_count += 1
        store = self._store
        self._free_at = max(store.world.now, store.stalled_until, self._free_at) + store.draw_latency_ns()
        self._process.schedule(partial(self._run, future, operation), self._free_at)
        return future

    def _run(self, future: asyncio.Future[Any], operation: Callable[[], Any]) -> None:
        result, error = None, None
        store, process = self._store, self._process
        inner = _unwrap_call(operation)
        kind = getattr(getattr(inner, "func", inner), "__func__", None)
        writes = kind in (SqliteWriter._commit, SqliteWriter._write)
        try:
            if kind is not sa.Connection.close:
                store.require_reachable(process)
            if writes and store.full:
                raise sqlite3.OperationalError("database or disk is full")  # noqa: TRY301  as the driver raises it
            result = operation()
        except Exception as raised:  # noqa: BLE001  raised where the call is waited for
            error = raised
        else:
            if writes:
                self._notify_observer(kind, inner)
            if writes and store.doubtful:
                error = sqlite3.OperationalError("disk I/O error")
        tell = partial(self._deliver_result, future, result, error)
        self._process.schedule(tell, store.world.now + store._dice.randrange(MS // 10, MS))

    def _notify_observer(self, kind: object, operation: Any) -> None:
        store, process = self._store, self._process
        if kind is SqliteWriter._commit:
            store.committed(process, *operation.args)
        else:
            [inner] = operation.args
            store.wrote(process, int(getattr(inner, "func", None) is reacquire_lease))

    def _deliver_result(self, future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
        self.undelivered_count -= 1
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def close(self) -> None:
        pass


def _unwrap_call(call: Any) -> Any:
    """Return the operation that a call submitted to the writer's thread runs, without its wrappers."""
    while getattr(getattr(call, "func", None), "__func__", None) is SqliteWriter._run_with_wait:
        [call] = call.args
    return call


class InlineConnection(aiosqlite.Connection):
    """Connection of aiosqlite without its thread."""

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
