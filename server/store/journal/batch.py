"""What the journal commits together: sessions, matches that begin, events, matches that end.

Each statement carries the number of the server's lease, and changes nothing when that is old.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from arena.protocol.record import Record, to_line
from arena.server.store import database, sqlite
from arena.server.store.aggregates.repeats import digest_of, repeated
from arena.server.store.arrival import let_nobody_count, next_arrival
from arena.server.store.finished import AT_ITS_END, keep_record, shown_of
from arena.server.store.journal.rows import EventRow, Rows, chunks
from arena.server.store.lease import HELD, Lease, parameters
from arena.server.store.packing import pack_record, record_in
from arena.server.store.schema import matches, records, servers, sessions

log = logging.getLogger("arena.journal")

OPENED = ("match", "event", "game", "maxie", "minnie", "terms", "started", "rated")
"""What is known of a match when it begins, beside whose it is."""


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
    done: asyncio.Event = field(default_factory=asyncio.Event)
    error: Exception | None = None

    def end(self, error: Exception | None) -> None:
        """Wake whoever waits for the batch: it is durable, or failed with that error."""
        self.error = error
        self.done.set()

    @property
    def has_only_rows(self) -> bool:
        """Whether nothing but events is in it."""
        return not (self.sessions or self.opened or self.closed)

    def __bool__(self) -> bool:
        return bool(self.sessions or self.opened or self.rows or self.closed)


def write_batch(
    connection: sa.Connection, batch: Batch, rows: Rows, lease: Lease, *, again: bool = False
) -> None:
    """Write all of a batch in a transaction of the lease's holder. Raises rows.NotOpen.

    again: whether it was tried before, and may have been durable although the try failed
    """
    kind, held = connection.dialect.name, parameters(lease)
    if batch.closed:
        let_nobody_count(connection)
    if batch.sessions:
        # In one order everywhere: two servers that change the same rows then never wait for each other.
        kept = [{"bot": name, "secret": secret, **held} for name, secret in sorted(batch.sessions.items())]
        sqlite.execute_each(connection, _keep_session(kind), kept)
    if batch.opened:
        statement = _open_again(kind) if again else OPEN_MATCH
        sqlite.execute_each(connection, statement, [_opening(row) | held for row in batch.opened])
    opened = {row["match"] for row in batch.opened}
    rows.write(connection, opened, batch.rows, {row["which"] for row in batch.closed})
    if batch.closed:
        sqlite.execute_each(connection, close_match(kind), [row | held for row in batch.closed])
        new = sqlite.execute_each(
            connection, keep_record(kind), [row | {"whole": False} for row in batch.closed]
        )
        if new < len(batch.closed):
            _compare(connection, {row["which"]: row["packed"] for row in batch.closed})


def _compare(connection: sa.Connection, closed: dict[str, bytes]) -> None:
    """Say which of these matches have another record already: a fault of ours, which changes nothing any more."""
    for some in chunks(closed):
        query = sa.select(matches.c.match, records.c.packed).join(
            records, records.c.number == matches.c.number
        )
        for row in connection.execute(query.where(matches.c.match.in_(some))):
            mine = closed[row.match]
            if row.packed != mine and record_in(row.packed) != record_in(mine):
                log.error("match %s has another record in the store, which stays as it is", row.match)


def closing(record: Record) -> dict[str, Any]:
    """What is written at the end of a match, which is now."""
    shown = {f"new_{name}": value for name, value in shown_of(record).items()}
    return {
        "which": record.match,
        "packed": pack_record(to_line(record)),
        "at": database.now(),
        "played": digest_of(record),
        **shown,
    }


def _opening(row: dict[str, Any]) -> dict[str, Any]:
    return {f"given_{name}": row[name] for name in OPENED}


_given = [sa.bindparam(f"given_{name}", type_=matches.c[name].type) for name in OPENED]
_new = sa.select(*_given, servers.c.name).where(HELD)
OPEN_MATCH = sa.insert(matches).from_select([*OPENED, "server"], _new)
"""Its parameters are called `given_` and as the columns, beside those of the lease."""


@lru_cache(maxsize=2)
def close_match(kind: str) -> sa.Update:
    """Ends a match in progress. Nothing changes one that is over, and one that repeats another is rated no more."""
    mine = (matches.c.match == sa.bindparam("which")) & (matches.c.server == sa.bindparam("lease_name"))
    values = {name: sa.bindparam(f"new_{name}", type_=matches.c[name].type) for name in AT_ITS_END}
    return (
        sa.update(matches)
        .where(mine, matches.c.finished.is_(None), sa.exists().where(HELD))
        .values(
            finished=sa.bindparam("at"),
            arrival=next_arrival(kind),
            rated=matches.c.rated & ~repeated(),
            played=sa.case((matches.c.rated, sa.bindparam("played", type_=matches.c.played.type))),
            **values,
        )
    )


@lru_cache(maxsize=2)
def _open_again(kind: str) -> sa.Insert:
    return database.insert(kind, matches).from_select([*OPENED, "server"], _new).on_conflict_do_nothing()


@lru_cache(maxsize=2)
def _keep_session(kind: str) -> sa.Insert:
    given = sa.bindparam("bot", type_=sa.String), sa.bindparam("secret", type_=sa.String)
    row = sa.select(servers.c.name, *given).where(HELD)
    return database.insert_or_update(kind, sessions, row)
