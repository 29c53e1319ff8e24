"""Journal of a server: it stores each decision of the match logic (`server.core`) before any client is notified of it.

    async with open_journal(engine, "name") as journal:
        restore = await journal.load_restart_state(event)
        await journal.commit(effects)

A journal writes under the lease of its server's name (`server.store.lease`), which it acquires when opened, renews while
open, and releases when closed. A commit is one transaction for any number of effects: either all of them
become durable, or none. `server.store.journal.reader` and `server.store.journal.restart_state` read the journal.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import TypeVar

import anyio
import sqlalchemy as sa

from arena.clock import MONOTONIC_CLOCK, TimeSource
from arena.server.core.effects import DurableEffect
from arena.server.core.inputs import RestoredState
from arena.server.store import database, errors, lease
from arena.server.store.database import Engine
from arena.server.store.errors import StoreError
from arena.server.store.journal.changes import collect_journal_changes
from arena.server.store.journal.postgresql_writer import PostgresqlWriter, open_postgresql_writer
from arena.server.store.journal.restart_state import load_restart_state
from arena.server.store.journal.sqlite_writer import SqliteWriter, open_sqlite_writer
from arena.server.store.lease import DEFAULT_LEASE_SECONDS, RENEWALS_PER_LEASE_DURATION, Lease, LeaseLost

T = TypeVar("T")

log = logging.getLogger("arena.journal")

STORE_UNAVAILABLE_AFTER_SECONDS = 3.0
"""Seconds without an answer to a commit or a renewal of the lease after which the store counts as unavailable."""


class StoreUnavailable(StoreError):
    """Raised when the store is unavailable, busy or full; the message is a one-line reason. A retry may succeed."""


JournalWriter = SqliteWriter | PostgresqlWriter
"""Type of the writers by which a journal writes to its store: one class for each kind of database."""


class Journal:
    """Writer of one server's matches and sessions to the store, under a lease on the server's name.

    Make one with `open_journal`. Only one task at a time may call `commit`. Any number of tasks may call the other
    methods.
    """

    def __init__(
        self,
        engine: Engine,
        writer: JournalWriter,
        lease: Lease,
        clock: TimeSource,
        observe_commit_seconds: Callable[[float], None],
    ) -> None:
        self.lease = lease
        """Lease under which the journal writes. `load_restart_state` may replace it by one with a higher fencing token."""
        self.engine = database.redirect_transactions(engine, self.run_in_transaction)
        """SQLAlchemy engine for the rest of this server. With it, `database.run_in_transaction` writes through this journal."""
        self.lease_lost = asyncio.Event()
        """`asyncio.Event` that is set once another process has the server's name. Each later transaction raises LeaseLost."""
        self._writer = writer
        self._clock = clock
        self._observe_commit_seconds = observe_commit_seconds
        """Function that is called with the duration of each commit, in seconds."""
        self._transaction_lock = asyncio.Lock()
        """Lock held by each transaction that is not a commit, so that at most one of these can delay a commit.

        A transaction reads `lease` while it holds the lock, so it always writes under the latest lease.
        """
        self._pending_since: dict[str, int] = {}
        """Start time of each pending database call, in monotonic ns, by kind: `commit`, or `renewal` of the lease."""
        self._last_error = ""
        """Reason why the last commit or lease renewal failed; empty if it succeeded."""
        self._in_doubt = False
        """True if the last commit raised an exception, so that it is unknown whether the commit was or will be made."""
        self._is_replacing_lease = False
        """True from the start of a replacement of the lease until its outcome is known.

        If the database's answer is lost, the store may have the new lease while `lease` is still the old one.
        """

    async def commit(self, effects: Iterable[DurableEffect]) -> None:
        """Store effects (decisions of `server.core`, such as an accepted move) in one transaction: all of them or none.

        Raises StoreUnavailable if the commit may succeed later: retry it, or start a new core with the state from
        `load_restart_state`. Raises LeaseLost if another process has taken over the lease, and another exception if the
        effects can never be committed. After a cancellation it is unknown whether the effects were stored.
        """
        start_ns = self._pending_since["commit"] = self._clock.now_ns()
        try:
            await self._writer.commit(collect_journal_changes(effects, self.lease.server_name), self.lease)
        except Exception as error:
            self._in_doubt = True
            raise self._record_and_convert_error(error) from error
        finally:
            del self._pending_since["commit"]
        self._last_error = ""
        self._in_doubt = False
        self._observe_commit_seconds((self._clock.now_ns() - start_ns) / 1e9)

    def is_committing(self) -> bool:
        """Return True while a commit is in progress."""
        return "commit" in self._pending_since

    async def load_restart_state(self, event_name: str | None) -> RestoredState:
        """Return the stored state from which this server restarts.

        `restart_state.load_restart_state` describes the state and `event_name`. If the outcome of the last commit is unknown,
        this call decides it: either the effects are in the returned state, or they are never stored.

        Raises StoreUnavailable if a retry may succeed, LeaseLost if another process has acquired the server's name, and
        StoreError if a match is of an unknown game.
        """
        try:
            if self._in_doubt:
                async with self._transaction_lock:
                    await self._replace_lease()
                self._in_doubt = False
            return await load_restart_state(self.engine, self.lease.server_name, event_name)
        except Exception as error:
            raise self._record_and_convert_error(error) from error

    async def run_in_transaction(self, operation: Callable[[sa.Connection], T]) -> T:
        """Run `operation` in a separate transaction, under the lease on the server's name, and return its result.

        A `commit` waits for at most one transaction of this method, even if many are queued. Raises LeaseLost if another
        process has acquired the server's name, and any database error. On an exception, the transaction is rolled back.
        """

        def write_and_check_lease(connection: sa.Connection, held_lease: Lease) -> T:
            result = operation(connection)
            lease.require_held_lease(connection, held_lease)
            return result

        try:
            return await self._run_under_lease(write_and_check_lease)
        except LeaseLost:
            self.lease_lost.set()
            raise

    def describe_outage(self) -> str:
        """Return a one-line reason why nothing can be committed now; empty if commits succeed.

        The call does not query the store. An unavailable store is noticed by the lease renewals, which fail within
        seconds even if no match is played.
        """
        if self.lease_lost.is_set():
            return str(LeaseLost(self.lease))
        now = self._clock.now_ns()
        seconds = (now - min(self._pending_since.values(), default=now)) / 1e9
        if seconds >= STORE_UNAVAILABLE_AFTER_SECONDS:
            return f"the store has not answered for {seconds:.0f} s"
        return self._last_error and f"the store fails: {self._last_error}"

    async def renew_lease_periodically(self) -> None:
        """Renew the lease until another process acquires the server's name.

        The lease is renewed RENEWALS_PER_LEASE_DURATION times, at equal intervals, within the time for which it is valid.
        """
        while not self.lease_lost.is_set():
            await self._clock.sleep(self.lease.valid_seconds / RENEWALS_PER_LEASE_DURATION)
            await self.renew_lease()

    async def renew_lease(self) -> None:
        """Renew the lease once, or set `lease_lost` if the lease is lost.

        Any other failure is only logged: the next renewal may succeed.
        """
        self._pending_since["renewal"] = self._clock.now_ns()
        try:
            await self._run_under_lease(lease.renew_lease)
            self._last_error = ""
        except Exception as error:  # noqa: BLE001
            failure = self._record_and_convert_error(error)
            if not isinstance(failure, LeaseLost):
                log.warning("the lease could not be renewed: %s", failure)
        finally:
            del self._pending_since["renewal"]

    async def _run_under_lease(self, operation: Callable[[sa.Connection, Lease], T]) -> T:
        """Run `operation(connection, lease)` in a separate transaction. Any number of tasks may call this at the same time."""
        async with self._transaction_lock:
            # Under the old fencing token, the operation would fail as if another process had acquired the lease.
            if self._is_replacing_lease:
                await self._replace_lease()
            return await self._writer.run_in_transaction(lambda connection: operation(connection, self.lease))

    async def _replace_lease(self) -> None:
        """Replace the lease by one with the next fencing token. The caller holds the transaction lock."""
        self._is_replacing_lease = True
        self.lease = await self._writer.run_in_transaction(partial(lease.reacquire_lease, lease=self.lease))
        self._is_replacing_lease = False

    def _record_and_convert_error(self, error: Exception) -> Exception:
        """Record an error as the reason of an outage, and return the exception to raise instead.

        The returned exception is a StoreUnavailable if a retry may succeed, and otherwise `error` itself.
        """
        if isinstance(error, LeaseLost):
            self.lease_lost.set()
            return error
        self._last_error = errors.describe_outage(error)
        return StoreUnavailable(self._last_error) if errors.is_transient_error(error) else error

    async def release_lease(self) -> None:
        """Release the lease, so that another process can acquire the server's name immediately. A failure is only logged."""
        try:
            await self._run_under_lease(lease.release_lease)
        except LeaseLost:
            pass  # another process has the name: nothing to release
        except Exception as error:  # noqa: BLE001  the server stops anyway
            why = errors.describe_store_failure(error) or error
            log.warning("the lease is not released, and expires by itself: %s", why)


@asynccontextmanager
async def open_journal(
    engine: Engine,
    server_name: str = "",
    *,
    is_standby: bool = False,
    lease_seconds: float = DEFAULT_LEASE_SECONDS,
    clock: TimeSource = MONOTONIC_CLOCK,
    observe_commit_seconds: Callable[[float], None] = lambda _seconds: None,
) -> AsyncIterator[Journal]:
    """Acquire the lease on a server's name, and yield the journal that writes under it. Release the lease at the end.

    server_name: empty for the server without a name
    is_standby: True for a standby, which waits until the name is free or its lease has expired
    lease_seconds: time for which the lease is valid without renewal; also the time to wait for PostgreSQL's answer
        before a transaction fails
    observe_commit_seconds: function that is called with the duration of each commit, in seconds

    Raises LeaseHeld if another process holds the name and renews its lease, and any database error.
    """
    writers: AbstractAsyncContextManager[JournalWriter] = (
        open_sqlite_writer(engine)
        if engine.dialect.name == "sqlite"
        else open_postgresql_writer(engine, lease_seconds, clock)
    )
    async with writers as writer:
        lease_held = await lease.acquire_lease(
            writer.run_in_transaction,
            server_name,
            valid_seconds=lease_seconds,
            is_standby=is_standby,
            clock=clock,
        )
        journal = Journal(engine, writer, lease_held, clock, observe_commit_seconds)
        renewal_task = asyncio.create_task(
            journal.renew_lease_periodically(), name=f"lease of {server_name!r}"
        )
        try:
            yield journal
        finally:
            with anyio.CancelScope(shield=True):
                why = journal.describe_outage()
                if why:
                    writer.fail_pending_calls()  # an unavailable store must not keep the server from stopping
                renewal_task.cancel()
                await asyncio.wait([renewal_task])
                if not why:
                    await journal.release_lease()
                elif not journal.lease_lost.is_set():
                    log.warning("the lease is not released, and expires by itself: %s", why)
