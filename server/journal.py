"""The journal: every accepted event of every match, written before anyone is told.

Writes of all matches are gathered and committed together: while one commit is under way the next
batch collects, so the more there is to do, the more each commit carries. A room appends, waits for
`durable`, and only then lets the effects out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain
from time import perf_counter
from typing import Any, TypeVar

import anyio
import msgspec
import sqlalchemy as sa
from anyio.lowlevel import checkpoint
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncEngine

from games.catalogue import make_game
from protocol.adjudication import Adjudication
from protocol.messages import Data, Players
from protocol.record import Record, from_line, to_line
from protocol.timecontrol import TimeControl
from server import store
from server.events import Event, Timed, TurnLeft, from_journal, to_journal
from server.referee import Terms
from server.writer import Writer, open_writer

T = TypeVar("T")

AT_ONCE = 16
"""Events whose effects are let out in one turn of the event loop: what comes in meanwhile waits."""

ROWS_AT_ONCE = 64
"""Events in one statement: the driver keeps 128 statements prepared, and each number of rows is one of its own."""

INSERT_MATCH = sa.insert(store.matches)
CLOSE_MATCH = (
    sa.update(store.matches)
    .where(store.matches.c.match == sa.bindparam("which"))
    .values(record=sa.bindparam("record"), finished=sa.bindparam("at"))
)


EventRow = tuple[str, int, int, str]
"""A row of `events`, in the order of its columns."""


@dataclass
class Batch:
    """Writes that become durable together."""

    sessions: list[dict[str, Any]] = field(default_factory=list)
    opened: list[dict[str, Any]] = field(default_factory=list)
    events: list[EventRow] = field(default_factory=list)
    closed: list[dict[str, Any]] = field(default_factory=list)
    then: list[Callable[[Exception | None], None]] = field(default_factory=list)
    """Called, in order, once the batch is durable or has failed with that error. They must not raise."""
    done: anyio.Event = field(default_factory=anyio.Event)
    error: Exception | None = None

    def __bool__(self) -> bool:
        return bool(self.sessions or self.opened or self.events or self.closed)


class JournalFailed(Exception):
    """A batch could not be written; nothing of it may be told."""

    @classmethod
    def of(cls, error: Exception) -> JournalFailed:
        """For the error of a batch."""
        return cls(f"the journal could not be written: {store.complaint(error) or error}")


class Journal:
    """Appends to one store. `run` must be under way for anything to become durable."""

    def __init__(
        self,
        engine: AsyncEngine,
        tell: Callable[[float], None] = lambda _seconds: None,
        *,
        server: str = "",
    ) -> None:
        self._engine = engine
        self._server = server
        self._tell = tell  # how long each commit took, in seconds
        self._batch = Batch()
        self._work = anyio.Event()
        self._opened = anyio.Event()
        self._writer: Writer | None = None

    def keep_session(self, name: str, secret: bytes) -> Batch:
        """Note a bot's session by the hash of its secret, so that it can return after a restart."""
        return self._add("sessions", {"name": name, "hash": secret.hex()})

    def open_match(self, terms: Terms, event: str, started: str, *, rated: bool = False) -> Batch:
        """Note a new match. `rated`: its result is to count for the ratings of both."""
        row = {
            "match": terms.match,
            "event": event,
            "game": terms.game.name,
            "maxie": terms.players.maxie,
            "minnie": terms.players.minnie,
            "terms": msgspec.json.encode(_plain(terms)).decode(),
            "started": started,
            "rated": rated,
            "server": self._server,
        }
        return self._add("opened", row)

    def append(
        self, match: str, seq: int, at: int, event: Event, turn: tuple[int, TurnLeft] | None = None
    ) -> Batch:
        """Note event number `seq` of a match, at monotonic ns `at`; with event `seq` - 1, the turn that it ends."""
        return self._add("events", (match, seq, at, to_journal(event, turn)))

    def close_match(self, record: Record) -> Batch:
        """Note a match's record, and that it is finished now: ratings count in the order of finishing."""
        row = {"which": record.match, "record": to_line(record), "at": store.now()}
        return self._add("closed", row)

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
                batch, self._batch = self._batch, Batch()
                if not batch:
                    continue
                began = perf_counter()
                try:
                    await writer.write(partial(_write, batch))
                except Exception as error:  # noqa: BLE001  told to every room that waits for this batch
                    batch.error = error
                finally:
                    batch.done.set()
                    self._tell(perf_counter() - began)
                for count, told in enumerate(batch.then, 1):
                    told(batch.error)
                    if count % AT_ONCE == 0:
                        await checkpoint()
                await checkpoint()

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Do other work in a transaction of its own, between batches: nobody then waits for a locked file.

        Waits for `run` to be under way. Raises store.StoreError where that is over, or never came so far.
        """
        await self._opened.wait()
        if self._writer is None:
            raise store.StoreError("the journal is closed")
        return await self._writer.write(work)

    async def drain(self) -> None:
        """Wait until all that was appended so far is committed."""
        if self._batch:
            self._work.set()
            await self.durable(self._batch)

    def _add(self, kind: str, row: dict[str, Any] | EventRow) -> Batch:
        getattr(self._batch, kind).append(row)
        self._work.set()
        return self._batch


def _write(batch: Batch, connection: sa.Connection) -> None:
    if batch.sessions:
        # the last word of each name counts
        latest = {row["name"]: row for row in batch.sessions}
        change = store.insert_or_update(connection.dialect.name, store.sessions)
        # In one order everywhere: two servers that change the same rows then never wait for each other.
        connection.execute(change, sorted(latest.values(), key=lambda row: str(row["name"])))
    if batch.opened:
        connection.execute(INSERT_MATCH, batch.opened)
    if batch.events:
        _insert_events(connection, batch.events)
    if batch.closed:
        connection.execute(CLOSE_MATCH, batch.closed)


def _insert_events(connection: sa.Connection, rows: list[EventRow]) -> None:
    """A row a move: what SQLAlchemy does for each row of an insert of its own costs more than the database does."""
    one = _insert_event(connection.dialect)
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(one, rows)
        return
    # The driver takes Python's lock back after each statement, and a busy event loop has it: many rows in one.
    for first in range(0, len(rows), ROWS_AT_ONCE):
        part = rows[first : first + ROWS_AT_ONCE]
        connection.exec_driver_sql(one + ", (?, ?, ?, ?)" * (len(part) - 1), tuple(chain.from_iterable(part)))


@lru_cache(maxsize=8)
def _insert_event(dialect: sa.Dialect) -> str:
    return str(sa.insert(store.events).compile(dialect=dialect))


class _Terms(Struct, frozen=True):
    """What `matches.terms` holds."""

    setup: dict[str, Data]
    time_control: TimeControl
    margin_ms: int
    ready_ms: int
    grace_ms: int
    threads: int = 1
    opening: tuple[Data, ...] = ()
    adjudication: Adjudication | None = None


def _plain(terms: Terms) -> _Terms:
    return _Terms(
        setup=terms.game.setup(),
        time_control=terms.control,
        margin_ms=terms.margin_ms,
        ready_ms=terms.ready_ms,
        grace_ms=terms.grace_ms,
        threads=terms.threads,
        opening=terms.opening,
        adjudication=terms.adjudication,
    )


def terms_of(row: sa.Row[Any]) -> Terms:
    """What the match of a row of `matches` is played on. Raises games.core.GameError, msgspec.DecodeError."""
    kept = msgspec.json.decode(row.terms, type=_Terms)
    return Terms(
        match=row.match,
        game=make_game(row.game, kept.setup),
        players=Players(row.maxie, row.minnie),
        control=kept.time_control,
        margin_ms=kept.margin_ms,
        ready_ms=kept.ready_ms,
        grace_ms=kept.grace_ms,
        threads=kept.threads,
        opening=kept.opening,
        adjudication=kept.adjudication,
    )


async def events_of(engine: AsyncEngine, match: str) -> Sequence[Timed]:
    """What happened in a match, in order."""
    which = store.events.c.match == match
    query = sa.select(store.events.c.at, store.events.c.event).where(which).order_by(store.events.c.seq)
    async with store.reading(engine) as connection:
        rows = (await connection.execute(query)).all()
    return [each for at, text in rows for each in from_journal(at, text)]


async def records_of(engine: AsyncEngine, event: str) -> list[Record]:
    """The finished matches of an event, in the order in which they began."""
    mine = (store.matches.c.event == event) & store.matches.c.record.is_not(None)
    query = sa.select(store.matches.c.record).where(mine)
    query = query.order_by(store.matches.c.started, store.matches.c.match)
    async with store.reading(engine) as connection:
        return [from_line(text) for text in (await connection.execute(query)).scalars()]
