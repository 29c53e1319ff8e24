"""The journal: every accepted event of every match, written before anyone is told.

Writes of all matches are gathered and committed together: while one commit is under way the next
batch collects, so the more there is to do, the more each commit carries. A room appends, waits for
`durable`, and only then lets the effects out. `server.store.journal.rows` writes the events, and
`server.store.journal.reader` reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

import anyio
import sqlalchemy as sa
from anyio.lowlevel import checkpoint
from sqlalchemy.ext.asyncio import AsyncEngine

from match.events import Event, TurnLeft, to_journal
from match.terms import Terms, to_json
from protocol.record import Record, to_line
from server.store import database, schema
from server.store.journal.rows import EventRow, Rows
from server.store.journal.writer import Writer, open_writer

T = TypeVar("T")

GATHER_TURNS = 8
"""Turns of the event loop that a commit waits at the most, as long as each brings one event more: with hundreds of
matches a commit carries a sixth more moves so, and as many more are played in a second."""

TOLD_IN_A_TURN = 16
"""Events whose effects are let out in one turn of the event loop: what comes in meanwhile waits."""

INSERT_MATCH = sa.insert(schema.matches)
CLOSE_MATCH = (
    sa.update(schema.matches)
    .where(schema.matches.c.match == sa.bindparam("which"))
    .values(record=sa.bindparam("record"), finished=sa.bindparam("at"))
)


@dataclass
class Batch:
    """Writes that become durable together."""

    sessions: dict[str, str] = field(default_factory=dict)
    """The hash of the secret by the name of the bot: the last one of each name counts."""
    opened: list[dict[str, Any]] = field(default_factory=list)
    rows: list[EventRow] = field(default_factory=list)
    closed: list[dict[str, Any]] = field(default_factory=list)
    then: list[Callable[[Exception | None], None]] = field(default_factory=list)
    """Called, in order, once the batch is durable or has failed with that error. They must not raise."""
    done: anyio.Event = field(default_factory=anyio.Event)
    error: Exception | None = None

    def __bool__(self) -> bool:
        return bool(self.sessions or self.opened or self.rows or self.closed)


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
    ) -> None:
        """tell: is told how long each commit took, in seconds; server: the name of the server whose matches these are."""
        self._engine = engine
        self._server = server
        self._event_rows = Rows(server)
        self._tell = tell
        self._batch = Batch()
        self._under_way: Batch | None = None
        self._work = anyio.Event()
        self._opened = anyio.Event()
        self._writer: Writer | None = None

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
            "server": self._server,
        }
        self._batch.opened.append(row)
        return self._added()

    def append(
        self, match: str, seq: int, at: int, event: Event, turn: tuple[int, TurnLeft] | None = None
    ) -> Batch:
        """Note event number `seq` of a match, at monotonic ns `at`; with event `seq` - 1, the turn that it ends."""
        self._batch.rows.append(EventRow(seq, to_journal(at, event, turn), match))
        return self._added()

    def close_match(self, record: Record) -> Batch:
        """Note a match's record, and that it is finished now: ratings count in the order of finishing."""
        row = {"which": record.match, "record": to_line(record), "at": database.now()}
        self._batch.closed.append(row)
        return self._added()

    def _added(self) -> Batch:
        self._work.set()
        return self._batch

    async def durable(self, batch: Batch) -> None:
        """Wait until the batch is committed. Raises JournalFailed."""
        await batch.done.wait()
        if batch.error is not None:
            raise JournalFailed.of(batch.error)

    async def run(self) -> None:
        """Commit batch after batch, until cancelled; `drain` first, or the last one is lost."""
        try:
            await self._run()
        finally:
            self._writer = None
            self._opened.set()

    async def _run(self) -> None:
        async with open_writer(self._engine) as writer:
            self._writer = writer
            self._opened.set()
            while True:
                await self._work.wait()
                self._work = anyio.Event()
                await self._gather()
                batch, self._batch = self._batch, Batch()
                if not batch:
                    continue
                self._under_way = batch
                began = perf_counter()
                try:
                    await writer.write(partial(self._write, batch))
                    self._event_rows.written()
                except Exception as error:  # noqa: BLE001  told to every room that waits for this batch
                    batch.error = error
                finally:
                    self._under_way = None
                    batch.done.set()
                    self._tell(perf_counter() - began)
                for count, told in enumerate(batch.then, 1):
                    told(batch.error)
                    if count % TOLD_IN_A_TURN == 0:
                        await checkpoint()
                del batch  # it holds the rooms, of which some are over
                await checkpoint()

    async def _gather(self) -> None:
        for _ in range(GATHER_TURNS):
            count = len(self._batch.then)
            await checkpoint()
            if len(self._batch.then) == count:
                return

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Do other work in a transaction of its own, between batches: nobody then waits for a locked file.

        Waits for `run` to be under way. Raises database.StoreError where that is over, or never came so far.
        """
        await self._opened.wait()
        if self._writer is None:
            raise database.StoreError("the journal is closed")
        return await self._writer.write(work)

    async def drain(self) -> None:
        """Wait until all that was appended so far is committed. Raises JournalFailed for the last of it."""
        if self._batch:
            self._work.set()
            await self.durable(self._batch)
        elif self._under_way is not None:
            await self.durable(self._under_way)

    def _write(self, batch: Batch, connection: sa.Connection) -> None:
        if batch.sessions:
            change = database.insert_or_update(connection.dialect.name, schema.sessions)
            # In one order everywhere: two servers that change the same rows then never wait for each other.
            given = [{"name": name, "hash": secret} for name, secret in sorted(batch.sessions.items())]
            connection.execute(change, given)
        if batch.opened:
            connection.execute(INSERT_MATCH, batch.opened)
        opened, closed = {row["match"] for row in batch.opened}, {row["which"] for row in batch.closed}
        self._event_rows.write(connection, opened, batch.rows, closed)
        if batch.closed:
            connection.execute(CLOSE_MATCH, batch.closed)
