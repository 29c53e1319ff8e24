"""The journal: every accepted event of every match, written before anyone is told.

Writes of all matches are gathered and committed together: while one commit is under way the next
batch collects, so the more there is to do, the more each commit carries. A room appends, and lets the effects out when
it is called back, once the event is durable. Nothing is durable in a store that is thrown away with its server: there
an event of a match that is open is told at once, and is written with what follows it. `server.store.journal.batch` is what is committed together, and
`server.store.journal.reader` reads it.

A journal writes under the lease of its server's name (`server.store.lease`): it takes it before anything else, renews
it while it runs, and gives it back at its end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from time import monotonic, perf_counter
from typing import TypeVar

import anyio
import anyio.abc
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.match.events import Event, TurnLeft, to_journal
from arena.match.terms import Terms, to_json
from arena.protocol.record import Record
from arena.server.store import database, lease
from arena.server.store.journal.batch import Batch, closing, write_batch
from arena.server.store.journal.overdue import Overdue
from arena.server.store.journal.renewal import Renewal
from arena.server.store.journal.rows import EventRow, Rows
from arena.server.store.journal.writer import Writer, open_writer
from arena.server.store.lease import ARENA_SECONDS, LEASE_SECONDS, Lease, LeaseLost

T = TypeVar("T")

log = logging.getLogger("arena.journal")

GATHER_TURNS = 8
"""Turns of the event loop that a commit waits at the most, as long as each brings one event more: with hundreds of
matches a commit carries a sixth more moves so, and as many more are played in a second."""

TOLD_IN_A_TURN = 16
"""Events whose effects are let out in one turn of the event loop: what comes in meanwhile waits."""

LATER_SECONDS = 0.1
"""How long events wait that nobody waits for, in a store that is thrown away."""

RETRY_SECONDS = 0.5
"""From one try to reach a store that is away to the next."""

SLOW_SECONDS = 3.0
"""A store that has been asked for so long and has not answered is away."""


class JournalFailed(Exception):
    """A batch could not be written; nothing of it may be told."""

    @classmethod
    def of(cls, error: Exception) -> JournalFailed:
        """For the error of a batch."""
        return cls(f"the journal could not be written: {database.complaint(error) or error}")


class Journal:
    """Appends to one store. `run` must be under way for anything to become durable."""

    def __init__(
        self,
        engine: AsyncEngine,
        tell: Callable[[float], None] = lambda _seconds: None,
        *,
        server: str = "",
        arena: bool = False,
        patience: float = 0.0,
        answer_seconds: float = LEASE_SECONDS,
    ) -> None:
        """Write to one store.

        tell      is told how long each commit took, in seconds
        server    the name of the server whose matches these are
        arena     whether that server is one of an arena, whose matches others take over when it is gone
        patience  for how many seconds a batch is tried again while the store is away, before it fails
        answer_seconds  for how many seconds, and for as long as `patience`, a store is waited for that does not answer
        """
        self._engine = engine
        self._server = server
        self._tell = tell
        self._patience = patience
        self._answer_seconds = answer_seconds
        self._stopping = False
        """Whether nobody waits any more for a store that is away."""
        self._asked_at: float | None = None
        """Since when the store has been asked for what it has not done yet, in monotonic seconds."""
        self._complaint = ""
        """What the last try failed with; empty where it went well."""
        self._thrown_away = not engine.get_execution_options().get("lasting", True)
        self._later: asyncio.TimerHandle | None = None
        """What wakes `run` for events that nobody waits for."""
        self._batch = Batch()
        self._under_way: Batch | None = None
        self._work = asyncio.Event()
        self._in_turn = anyio.Lock()
        """Is held by what `write` does and is not urgent."""
        self._opened = anyio.Event()
        self._hurried = anyio.Event()
        """Set when the server is about to stop."""
        self._writer: Writer | None = None
        wanted = Lease(server, 0, ARENA_SECONDS if arena else LEASE_SECONDS, arena)
        self._renewal = Renewal(wanted, self._work.set)
        self._gone = False
        """Whether the database is cut off from here, and nothing is waited for at the end."""
        self._overdue = Overdue(self._abandon)

    @property
    def lease(self) -> Lease:
        """The lease under which it writes; its number is 0 until `run` has taken the name."""
        return self._renewal.lease

    def keep_session(self, name: str, secret: bytes) -> Batch:
        """Note a bot's session by the hash of its secret, so that it can return after a restart."""
        self._batch.sessions[name] = secret.hex()
        return self._added()

    def open_match(self, terms: Terms, started: str) -> Batch:
        """Note a new match."""
        row = {
            "match": terms.match,
            "event": terms.event,
            "game": terms.game.name,
            "maxie": terms.players.maxie,
            "minnie": terms.players.minnie,
            "terms": to_json(terms),
            "started": started,
            "rated": terms.rated,
        }
        self._batch.opened.append(row)
        return self._added()

    def append(
        self,
        match: str,
        seq: int,
        at: int,
        event: Event,
        turn: tuple[int, TurnLeft] | None = None,
        told: Callable[[Exception | None], None] | None = None,
    ) -> Batch:
        """Note event number `seq` of a match, at monotonic ns `at`; with event `seq` - 1, the turn that it ends.

        told  called in a turn of the event loop, once the event is durable or has failed with an error; must not raise
        """
        self._batch.rows.append(EventRow(seq, to_journal(at, event, turn), match))
        if told is None:
            return self._added()
        # A match that cannot be opened is void before anybody plays it.
        if self._thrown_away and not self._batch.opened and not self._complaint:
            loop = asyncio.get_running_loop()
            loop.call_soon(told, None)
            if self._later is None:
                self._later = loop.call_later(LATER_SECONDS, self._work.set)
            return self._batch
        self._batch.then.append(told)
        return self._added()

    def close_match(self, record: Record) -> Batch:
        """Note a match's record, and that it is finished now: ratings count in the order in which these come in."""
        self._batch.closed.append(closing(record))
        return self._added()

    def _added(self) -> Batch:
        self._work.set()
        return self._batch

    async def durable(self, batch: Batch) -> None:
        """Wait until the batch is committed. Raises JournalFailed, also where `run` is over before that."""
        if batch is self._batch:
            self._work.set()
        await batch.done.wait()
        if batch.error is not None:
            raise JournalFailed.of(batch.error)

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Take the server's name and commit batch after batch, until cancelled; `drain` first, or the last one is lost.

        It has started when the name is held: from then on nobody else writes the server's matches. Raises
        lease.NameHeld, and LeaseLost where another process has taken the name; of what was not durable
        then, nobody is told.
        """
        try:
            async with open_writer(self._engine) as writer, self._holding(writer):
                self._writer = writer
                self._opened.set()
                task_status.started()
                await self._run(writer, Rows(self.lease))
        finally:
            self._writer = None
            self._opened.set()
            self._batch.end(database.StoreError("the journal is closed"))

    @asynccontextmanager
    async def _holding(self, writer: Writer) -> AsyncIterator[None]:
        _, _, seconds, arena = self.lease
        self._renewal.begin(await lease.hold(writer, self._server, seconds=seconds, arena=arena))
        try:
            yield
        finally:
            self._renewal.stop()
            if self._later is not None:
                self._later.cancel()
            self._overdue.stop()
            try:
                if not self._gone:
                    await writer.write(partial(lease.give_back, lease=self.lease))
            except LeaseLost:
                pass  # it is somebody else's: nothing to give back
            except Exception as error:  # noqa: BLE001  a store that is away must not keep the server from ending
                why = database.complaint(error) or error
                log.warning("the lease is not given back, and runs out by itself: %s", why)

    async def _run(self, writer: Writer, rows: Rows) -> None:
        # What every commit does is asyncio's own: anyio looks up for each event and each turn which loop it is in.
        while True:
            await self._work.wait()
            self._work.clear()
            if writer.waits:
                await self._gather()
            batch, self._batch = self._batch, Batch()
            if self._later is not None:
                self._later.cancel()
                self._later = None
            if not batch:
                await self._renew(writer)
                continue
            self._under_way = batch
            began = perf_counter()
            failure: Exception | None = None
            try:
                await self._commit_at_last(writer, batch, rows)
            except LeaseLost as lost:
                failure = lost
                raise
            except Exception as error:
                failure = LeaseLost(self.lease) if self._gone else error
                if self._gone:
                    raise failure from error  # else it is told to every room that waits for this batch
            finally:
                self._under_way = None
                batch.end(failure)
                self._tell(perf_counter() - began)
            for count, told in enumerate(batch.then, 1):
                told(batch.error)
                if count % TOLD_IN_A_TURN == 0:
                    await asyncio.sleep(0)
            del batch  # it holds the rooms, of which some are over
            if self._work.is_set():  # then it is not waited for, and nothing else would have a turn
                await asyncio.sleep(0)

    async def _commit_at_last(self, writer: Writer, batch: Batch, rows: Rows) -> None:
        """Commit a batch; while the store is away again and again, as long as patience lasts.

        Its rooms stand still meanwhile, and no clock runs: a turn begins when it leaves.
        """
        end, again = monotonic() + self._patience, False
        while True:
            try:
                await self._commit(self._writing(writer, batch, rows, again=again), end)
            except Exception as error:
                if self._stopping or monotonic() >= end or not database.may_pass(error):
                    raise
                if not again:
                    log.warning(
                        "matches wait for the store, %g s at the most: %s", self._patience, self._complaint
                    )
                again = True
            else:
                if again:
                    log.warning("the store is back, and matches go on")
                rows.written()
                return
            with anyio.move_on_after(RETRY_SECONDS):
                await self._hurried.wait()

    def _writing(self, writer: Writer, batch: Batch, rows: Rows, *, again: bool) -> Awaitable[None]:
        if batch.has_only_rows and not self._renewal.due and rows.may_append(batch.rows):
            return writer.commit(partial(rows.append, rows=batch.rows), by_driver=True)
        return writer.commit(partial(self._write, batch, rows, again=again), by_driver=False)

    async def _commit(self, writing: Awaitable[None], end: float = 0.0) -> None:
        """Wait for what is being written, and no longer when patience has ended, in monotonic seconds."""
        self._asked_at = now = monotonic()
        self._overdue.begin(max(now + self._answer_seconds, end))
        try:
            await writing
        except Exception as error:
            self._complaint = database.complaint(error) or f"{type(error).__name__}: {error}"
            raise
        else:
            self._complaint = ""
        finally:
            self._asked_at = None
            self._overdue.ended()

    def _abandon(self) -> None:
        if self._writer is not None:
            self._writer.abandon()

    def give_up(self) -> None:
        """Wait for nothing more of a database that is cut off from here: what is being written fails, done or not."""
        self._gone = self._stopping = True
        self._hurried.set()
        self._abandon()

    def trouble(self) -> str:
        """Why nothing becomes durable now, in one line; empty where all is well. Asks nobody.

        A store that is away is found out within seconds also where nobody plays, as the lease is renewed.
        """
        if self._writer is None:
            return "the journal is closed"
        if self._asked_at is not None and monotonic() - self._asked_at >= SLOW_SECONDS:
            return f"the store has not answered for {monotonic() - self._asked_at:.0f} s"
        return self._complaint and f"the store fails: {self._complaint}"

    async def _renew(self, writer: Writer) -> None:
        """Renew the lease where that is due and no batch has come that does it. Raises LeaseLost."""
        if not self._renewal.due:
            return
        self._renewal.tried()
        try:
            await self._commit(writer.write(partial(lease.renew, lease=self.lease)))
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001  the next try may find the store there again
            log.warning("the lease could not be renewed: %s", database.complaint(error) or error)

    async def _gather(self) -> None:
        for _ in range(GATHER_TURNS):
            count = len(self._batch.then)
            await asyncio.sleep(0)
            if len(self._batch.then) == count:
                return

    async def write(self, work: Callable[[sa.Connection], T], *, urgent: bool = False) -> T:
        """Do other work in a transaction of its own, between batches: nobody then waits for a locked file.

        Waits for `run` to be under way and, unless it is urgent, for what came before. Raises database.StoreError where
        that is over, or never came so far, and LeaseLost.
        """
        await self._opened.wait()

        def fenced(connection: sa.Connection) -> T:
            result = work(connection)
            self._renewal.require(connection)
            return result

        try:
            # However many wait for their turn, one of them at the most is before a batch or what is urgent.
            async with nullcontext() if urgent else self._in_turn:
                if self._writer is None:
                    raise database.StoreError("the journal is closed")
                return await self._writer.write(fenced)
        except LeaseLost:
            self._renewal.hasten()  # `run` finds it out now, and ends
            raise

    async def drain(self) -> None:
        """Wait until all that was appended so far is committed. Raises JournalFailed for the last of it.

        From now on a batch is not tried again where the store is away.
        """
        self._stopping = True
        self._hurried.set()
        if self._batch:
            self._work.set()
            await self.durable(self._batch)
        elif self._under_way is not None:
            await self.durable(self._under_way)

    def _write(self, batch: Batch, rows: Rows, connection: sa.Connection, *, again: bool) -> None:
        self._renewal.require(connection)
        write_batch(connection, batch, rows, self.lease, again=again)
