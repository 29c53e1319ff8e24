"""The rows of `batches`: what happened in all matches of a server from one commit to the next.

A move costs a commit a few hundred bytes at the end of one row, and no page of an index. A match that ends
is moved to `events` as one row, in the transaction that keeps its record; one that goes on for long is moved
there piece by piece, so that the batches of a run never hold much more than `MOST_BYTES`. A batch is deleted
when nothing is in it that is not in `events` as well.

Events are numbered within their match, without gaps. Whatever is in the store twice, after a crash or after
a commit whose answer was lost, is told once by its number.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import Raw

from match.events import joined, last_at
from server.store import database, schema
from server.store.schema import batches, events, matches

MOST_BYTES = 8 * 2**20
"""Of a run's batches: so much is read when the server is back after a crash. Seconds of a server at its busiest."""

MOVED_AT_ONCE = 32
"""Matches in progress that one commit moves to `events` at the most, so that no commit takes long."""

DELETED_AFTER = 32
"""Commits between two looks for batches that are not needed any more."""

ROW_BYTES = 100
"""What a row takes beside its events."""

Line = tuple[str, int, Raw]
"""A match, the number of its last event here, and that event or the last few (`events.to_journal`)."""

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[list[Line]] = msgspec.json.Decoder(list[Line])


class NotOpen(Exception):
    """An event is of a match that this server does not play: one line that names it."""


@dataclass
class _Step:
    """What a transaction does, for when it is durable."""

    number: int
    size: int
    opened: Sequence[str]
    lines: Sequence[Line]
    moved: Sequence[str]
    closed: Collection[str]
    deleted: bool


class Batches:
    """The batches of one journal: `write` again and again, and `drop` after one that has failed."""

    def __init__(self, server: str, *, most: int = MOST_BYTES, look: int = DELETED_AFTER) -> None:
        """most, look: what stands above as MOST_BYTES and DELETED_AFTER."""
        self._run = uuid.uuid4().hex
        self._server = server
        self._most = most
        self._look = look
        self._number = 0
        self._size = 0
        """Bytes of all batches so far."""
        self._deleted = 0
        """The number of the commit that last deleted some."""
        self._open: dict[str, list[Line]] = {}
        """What is durable of each match in progress and not in `events`."""
        self._since: dict[str, tuple[int, int]] = {}
        """Of each match of which there is some, the number of the batch that has the first of it, and `_size`
        as of that one; the first of all comes first."""
        self._step: _Step | None = None

    def write(
        self, connection: sa.Connection, opened: Sequence[str], lines: Sequence[Line], closed: Sequence[str]
    ) -> None:
        """Write what happened, in the transaction in which these matches are opened, and the `closed` get their end.

        A match of before that this server goes on with is taken over: what happened in it before is moved
        to `events`, too. Raises NotOpen.
        """
        self._settle()
        self._number += 1  # also after a failure: that batch may be there all the same
        for match in opened:
            self._leave(match)  # one of the same id was taken out of the store
        playing = {match for match, _, _ in lines}
        if lines:
            text = _encoder.encode(lines).decode()
            row = (self._run, self._number, self._server, text)
            connection.exec_driver_sql(_insert_batch(connection.dialect), row)
            self._size += len(text) + ROW_BYTES
        if unknown := playing.union(closed).difference(self._open, opened):
            self._take_over(connection, unknown, lines)
            opened = [*opened, *unknown]
        over = set(closed)
        moved = self._long_ones(over)
        rows = [_row(match, self._open[match]) for match in moved]
        if over:
            lately: dict[str, list[Line]] = {match: [] for match in over}
            for line in lines:
                if line[0] in over:
                    lately[line[0]].append(line)
            whole = ((match, self._open.get(match, []) + lately[match]) for match in closed)
            rows += [_row(match, kept) for match, kept in whole if kept]
        _keep(connection, rows)
        deleted = self._delete(connection, over.union(moved), playing - over)
        self._step = _Step(self._number, self._size, opened, lines, moved, over, deleted)

    def _settle(self) -> None:
        """What was written last is durable."""
        step, self._step = self._step, None
        if step is None:
            return
        for match in step.opened:
            self._open[match] = []
        for match in step.moved:
            self._open[match] = []
            del self._since[match]
        for line in step.lines:
            kept = self._open[line[0]]
            if not kept:
                self._since[line[0]] = (step.number, step.size)
            kept.append(line)
        for match in step.closed:
            self._leave(match)
        if step.deleted:
            self._deleted = step.number

    def _leave(self, match: str) -> None:
        self._open.pop(match, None)
        self._since.pop(match, None)

    def drop(self) -> None:
        """What was written last has failed: it has not happened."""
        self._step = None

    def _long_ones(self, closed: Collection[str]) -> list[str]:
        """The matches whose first event here is so long ago that they are to be moved."""
        ago = self._size - self._most
        found = []
        for match, (_, size) in islice(self._since.items(), MOVED_AT_ONCE):
            if size > ago:
                break
            if match not in closed:
                found.append(match)
        return found

    def _delete(self, connection: sa.Connection, kept: Collection[str], playing: Collection[str]) -> bool:
        """Delete the batches that are not needed: now and then, and whenever nothing is in progress any more.

        kept: the matches whose events of before this commit are in `events` now
        playing: those that go on and have an event in this commit
        """
        needed = next((number for match, (number, _) in self._since.items() if match not in kept), None)
        if needed is None:
            needed = self._number if playing else self._number + 1
        idle = needed > self._number and bool(kept)
        if not idle and self._number - self._deleted < self._look:
            return False
        connection.exec_driver_sql(_delete_batches(connection.dialect), (self._run, needed))
        return True

    def _take_over(self, connection: sa.Connection, unknown: Collection[str], lines: Sequence[Line]) -> None:
        """Move to `events` what runs of before have of these matches; `lines` is what happened in this one."""
        mine = sa.select(matches.c.match).where(matches.c.server == self._server, matches.c.record.is_(None))
        found = set(connection.execute(mine).scalars()).intersection(unknown)
        begun: dict[str, int] = {}
        for match, seq, _ in lines:
            begun.setdefault(match, seq)
            if match in unknown and match not in found:
                raise NotOpen(f"no match {match!r} is in progress on this server")
        if not found:
            return
        before = sa.select(batches.c.events).where(
            batches.c.server == self._server, batches.c.run != self._run
        )
        moved = last_moved(connection, found)
        rows = []
        kept = [line for text in connection.execute(before).scalars() for line in lines_in(text, found)]
        for match, old in by_match(kept).items():
            # What a run that was killed has brought in since this one looked, nobody was told of.
            end = begun.get(match, old[-1][1] + 1)
            if rest := [line for line in old if moved.get(match, -1) < line[1] < end]:
                rows.append(_row(match, rest))
        _keep(connection, rows)


def lines_in(text: str, wanted: Container[str]) -> list[Line]:
    """What a row holds of these matches."""
    return [line for line in _decoder.decode(text) if line[0] in wanted]


def by_match(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """Those of each match in the order of happening: rows of several runs may come in any order."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line[0], []).append(line)
    for some in found.values():
        some.sort(key=itemgetter(1))
    return found


def quoted(match: str) -> str:
    """A match as it stands in a row."""
    return _encoder.encode(match).decode()


def last_moved(connection: sa.Connection, wanted: Collection[str]) -> dict[str, int]:
    """The number of the last event that `events` has of each of these matches, of which it has some."""
    column = events.c.match
    query = sa.select(column, sa.func.max(events.c.seq).label("last")).group_by(column)
    found: dict[str, int] = {}
    for some in chunks(wanted):
        rows = connection.execute(query.where(column.in_(some))).all()
        found |= {row.match: row.last for row in rows}
    return found


def chunks(wanted: Iterable[str]) -> Iterator[list[str]]:
    """Some at a time, as many as a query may name."""
    rest = iter(wanted)
    while some := list(islice(rest, 500)):
        yield some


def sweep(connection: sa.Connection) -> None:
    """Delete the batches of all runs of which nothing is needed, in an exclusive transaction.

    Others may write meanwhile. A batch goes only when all that it holds is of matches that are over or were
    taken out of the store, or is in `events`; so it may be one of a run that goes on.
    """
    query = sa.select(batches.c.run, batches.c.number, batches.c.events)
    # These first: whatever is in them is of a match that was there, and so is known below if it goes on.
    held = {
        (run, number): {match: seq for match, seq, _ in _decoder.decode(text)}
        for run, number, text in connection.execute(query)
    }
    going_on = set(connection.execute(sa.select(matches.c.match).where(matches.c.record.is_(None))).scalars())
    moved = last_moved(connection, going_on)
    _delete(
        connection,
        [
            key
            for key, last in held.items()
            if all(match not in going_on or seq <= moved.get(match, -1) for match, seq in last.items())
        ],
    )


def forget(connection: sa.Connection, gone: Collection[str]) -> None:
    """Take all that happened in these matches out of the batches, in an exclusive transaction."""
    query = sa.select(batches.c.run, batches.c.number, batches.c.events)
    empty = []
    for run, number, text in connection.execute(query).all():
        lines = _decoder.decode(text)
        rest = [line for line in lines if line[0] not in gone]
        if not rest:
            empty.append((run, number))
        elif len(rest) < len(lines):
            mine = (batches.c.run == run) & (batches.c.number == number)
            change = sa.update(batches).where(mine).values(events=_encoder.encode(rest).decode())
            connection.execute(change)
    _delete(connection, empty)


def _delete(connection: sa.Connection, keys: Sequence[tuple[str, int]]) -> None:
    if keys:
        mine = (batches.c.run == sa.bindparam("its")) & (batches.c.number == sa.bindparam("one"))
        connection.execute(sa.delete(batches).where(mine), [{"its": run, "one": one} for run, one in keys])


def _row(match: str, lines: Sequence[Line]) -> dict[str, Any]:
    """A row of `events`."""
    _, seq, last = lines[-1]
    return {"which": match, "last": seq, "then": last_at(last), "text": joined([line[2] for line in lines])}


def _keep(connection: sa.Connection, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(_keep_events(connection.dialect.name), rows)


@lru_cache(maxsize=2)
def _keep_events(dialect: str) -> sa.Insert:
    """Rows into `events`, of matches that nobody has taken out; again where the answer to a commit was lost."""
    which = sa.bindparam("which", type_=schema.MATCH_ID)
    row = sa.select(
        which,
        sa.bindparam("last", type_=sa.Integer),
        sa.bindparam("then", type_=sa.BigInteger),
        sa.bindparam("text", type_=sa.Text),
    ).where(sa.exists().where(matches.c.match == which))
    return database.insert_or_update(dialect, events, row)


@lru_cache(maxsize=8)
def _insert_batch(dialect: sa.Dialect) -> str:
    """As text: SQLAlchemy's own way through a statement costs more than the database's."""
    return str(sa.insert(batches).compile(dialect=dialect))


@lru_cache(maxsize=8)
def _delete_batches(dialect: sa.Dialect) -> str:
    run, number = sa.bindparam("its", type_=sa.String), sa.bindparam("before", type_=sa.BigInteger)
    statement = sa.delete(batches).where(batches.c.run == run, batches.c.number < number)
    return str(statement.compile(dialect=dialect))
