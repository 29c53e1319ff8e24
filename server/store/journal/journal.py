"""Journal of a server, which makes the core's decisions durable before anybody is told of them.

    async with open_journal(engine, "name") as journal:
        restore = await journal.load(event)
        await journal.commit(effects)

A journal writes under the lease of its server's name (`server.store.lease`). It acquires the lease first, renews it
while open, and releases it when closed. A commit is one transaction for any number of effects: either all of them
become durable, or none. `server.store.journal.reader` and `server.store.journal.restart_state` read the journal.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Protocol, TypeVar

import anyio
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.clock import MONOTONIC, TimeSource
from arena.server.core.inputs import Restore
from arena.server.store import database, lease
from arena.server.store.database import StoreError
from arena.server.store.journal.changes import Durable, JournalChanges, collect_changes
from arena.server.store.journal.postgresql_writer import open_postgresql_writer
from arena.server.store.journal.restart_state import load_restart_state
from arena.server.store.journal.sqlite_writer import open_sqlite_writer
from arena.server.store.lease import LEASE_SECONDS, RENEWALS, Lease, LeaseLost

T = TypeVar("T")

log = logging.getLogger("arena.journal")

SLOW_SECONDS = 3.0
"""Time without an answer after which the store counts as unavailable, in seconds."""


class StoreUnavailable(StoreError):
    """Raised when the store is unavailable, busy or full. A retry of the same commit may succeed.

    The message is one line.
    """


class JournalWriter(Protocol):
    """Connection through which a journal writes to its store."""

    def commit(self, changes: JournalChanges, lease: Lease) -> Awaitable[None]:
        """Make the changes durable in one transaction. Raises LeaseLost and any database error."""
        ...

    async def write(self, operation: Callable[[sa.Connection], T]) -> T:
        """Run `operation` in a transaction, commit, and return its result. Roll back if `operation` raises an exception."""
        ...

    def foreign_version(self) -> Awaitable[int]:
        """Return a number that changes when another connection writes. It may change more often."""
        ...

    def abandon(self) -> None:
        """Stop waiting for an unavailable database.

        Pending calls raise an exception, whether or not their work became durable.
        """
        ...


class Journal:
    """Writer to one store under one lease. Made by `open_journal`. Only one task at a time may call `commit`."""

    def __init__(
        self,
        engine: AsyncEngine,
        writer: JournalWriter,
        lease: Lease,
        clock: TimeSource,
        observe: Callable[[float], None],
    ) -> None:
        self.lease = lease
        """Lease under which the journal writes."""
        self.lost = asyncio.Event()
        """Event that is set when another process has acquired the name. From then on, every write raises LeaseLost."""
        self.commits = 0
        """Number of commits attempted so far, successful or not."""
        self._engine = engine
        self._writer = writer
        self._clock = clock
        self._observe = observe
        self._transaction_lock = asyncio.Lock()
        """Lock of all transactions except commits: a commit waits for at most one, and each uses the latest lease."""
        self._pending_since: dict[str, int] = {}
        """Start of each pending commit or renewal, in monotonic ns."""
        self._last_error = ""
        """Error of the last commit or renewal; empty if it succeeded."""
        self._unanswered_calls = 0
        """Number of calls of `foreign_version` that the store did not answer."""
        self._foreign_writes = 0
        """Number of calls of `write_foreign`."""
        self._in_doubt = False
        """True if the last commit failed, but may nevertheless be or become durable."""

    async def commit(self, effects: Iterable[Durable]) -> None:
        """Make the effects durable in one transaction: all of them or none.

        Raises StoreUnavailable if the commit may succeed later: retry it, or build a new core from `load`. Raises
        LeaseLost if another process has acquired the name, and any other error if the effects can never be committed.
        After a cancellation the outcome is unknown.
        """
        began = self._pending_since["commit"] = self._clock.now_ns()
        try:
            await self._writer.commit(collect_changes(effects), self.lease)
        except Exception as error:
            self._in_doubt = True
            raise self._record_failure(error) from error
        finally:
            del self._pending_since["commit"]
            self.commits += 1  # one that failed may be durable
        self._last_error = ""
        self._in_doubt = False
        self._observe((self._clock.now_ns() - began) / 1e9)

    def is_committing(self) -> bool:
        """Return True while a commit is in progress."""
        return "commit" in self._pending_since

    async def load(self, event: str | None) -> Restore:
        """Return the stored state with which this server restarts.

        The state consists of the sessions and missed results of the server's bots and, unless `event` is None, of the
        unfinished events and matches. The call settles a commit of unknown outcome: either its effects are in the
        returned state, or they never become durable. Raises StoreUnavailable, LeaseLost, and StoreError if a match is
        of an unknown game.
        """
        try:
            if self._in_doubt:
                async with self._transaction_lock:
                    self.lease = await self._writer.write(partial(lease.reacquire_lease, lease=self.lease))
                self._in_doubt = False
            return await load_restart_state(self._engine, self.lease.name, event)
        except Exception as error:
            raise self._record_failure(error) from error

    async def write(self, operation: Callable[[sa.Connection], T]) -> T:
        """Run `operation` in a transaction of its own, between commits, and return its result. Raises LeaseLost and any
        database error.

        A commit waits for at most one of these transactions, even if many are queued.
        """

        def check_lease_and_write(connection: sa.Connection) -> T:
            result = operation(connection)
            lease.require_lease(connection, self.lease)
            return result

        async with self._transaction_lock:
            try:
                return await self._writer.write(check_lease_and_write)
            except LeaseLost:
                self.lost.set()
                raise

    async def write_foreign(self, operation: Callable[[sa.Connection], T]) -> T:
        """Run `operation` that any process may do, without the lease.

        It changes `foreign_version`, as another process would.
        """
        try:
            async with self._transaction_lock:
                return await self._writer.write(operation)
        finally:
            self._foreign_writes += 1

    async def foreign_version(self) -> int:
        """Return a number that changes when another process writes to the store, and after `write_foreign`.

        While the number stays the same, data that only other processes change need not be read again. On PostgreSQL,
        and while the store is unavailable, every call returns a new number.
        """
        try:
            return await self._writer.foreign_version() + self._foreign_writes
        except Exception as error:
            if not database.is_transient(error):
                raise
            self._unanswered_calls += 1
            return -self._unanswered_calls

    def outage_reason(self) -> str:
        """Return a one-line reason why nothing can be committed now; empty if commits succeed.

        The store is not queried. Lease renewals detect an unavailable store within seconds, even without matches.
        """
        if self.lost.is_set():
            return str(LeaseLost(self.lease))
        now = self._clock.now_ns()
        seconds = (now - min(self._pending_since.values(), default=now)) / 1e9
        if seconds >= SLOW_SECONDS:
            return f"the store has not answered for {seconds:.0f} s"
        return self._last_error and f"the store fails: {self._last_error}"

    async def keep_lease(self) -> None:
        """Renew the lease periodically until it is lost."""
        while not self.lost.is_set():
            await self._clock.sleep(self.lease.seconds / RENEWALS)
            await self.renew_lease()

    async def renew_lease(self) -> None:
        """Renew the lease once. A failure is only logged, because the next renewal may succeed."""
        self._pending_since["renewal"] = self._clock.now_ns()
        try:
            async with self._transaction_lock:
                await self._writer.write(partial(lease.renew_lease, lease=self.lease))
            self._last_error = ""
        except Exception as error:  # noqa: BLE001
            failure = self._record_failure(error)
            if not isinstance(failure, LeaseLost):
                log.warning("the lease could not be renewed: %s", failure)
        finally:
            del self._pending_since["renewal"]

    def _record_failure(self, error: Exception) -> Exception:
        """Record an error, and return the exception to raise: LeaseLost, StoreUnavailable if a retry may help, or `error` itself."""
        if isinstance(error, LeaseLost):
            self.lost.set()
            return error
        self._last_error = database.describe_failure(error) or f"{type(error).__name__}: {error}"
        return StoreUnavailable(self._last_error) if database.is_transient(error) else error

    async def release(self) -> None:
        """Release the name, so that another process can acquire it immediately."""
        try:
            await self._writer.write(partial(lease.release_lease, lease=self.lease))
        except LeaseLost:
            pass  # another process has the name: nothing to release
        except Exception as error:  # noqa: BLE001  the server stops anyway
            why = database.describe_failure(error) or error
            log.warning("the lease is not released, and expires by itself: %s", why)


@asynccontextmanager
async def open_journal(
    engine: AsyncEngine,
    name: str = "",
    *,
    wait: bool = False,
    lease_seconds: float = LEASE_SECONDS,
    answer_seconds: float = LEASE_SECONDS,
    clock: TimeSource = MONOTONIC,
    observe: Callable[[float], None] = lambda _seconds: None,
) -> AsyncIterator[Journal]:
    """Acquire the lease on a server's name, and yield the journal that writes under it. Release the lease at the end.

    wait: True for a standby, which waits until the name is free or its lease has expired
    lease_seconds: time for which the name is held without renewal
    answer_seconds: time after which a commit fails if PostgreSQL does not answer
    observe: function that is called with the duration of each commit, in seconds

    Raises LeaseHeld if another process holds the name and renews its lease, and any database error.
    """
    writers: AbstractAsyncContextManager[JournalWriter] = (
        open_sqlite_writer(engine)
        if engine.dialect.name == "sqlite"
        else open_postgresql_writer(engine, answer_seconds, clock)
    )
    async with writers as writer:
        acquired = await lease.acquire_lease(
            writer.write, name, seconds=lease_seconds, wait=wait, clock=clock
        )
        journal = Journal(engine, writer, acquired, clock, observe)
        renewing = asyncio.create_task(journal.keep_lease(), name=f"lease of {name!r}")
        try:
            yield journal
        finally:
            with anyio.CancelScope(shield=True):
                why = journal.outage_reason()
                if why:
                    writer.abandon()  # an unavailable store must not keep the server from stopping
                renewing.cancel()
                await asyncio.wait([renewing])
                if not why:
                    await journal.release()
                elif not journal.lost.is_set():
                    log.warning("the lease is not released, and expires by itself: %s", why)
