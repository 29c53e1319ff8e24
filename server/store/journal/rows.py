"""The rows of `events`: one for each event of a match that the journal is told of.

A turn is written together with the event that ends it, so a move is one row. Events are numbered within their
match from 1, without gaps, and a row has the number of its last.

A row for each move was measured against a row for each commit, from which the events of a match were moved when it
ended: benchmarks/SERVER.md has the table. With one move a commit both cost the same; with 30, which is what
hundreds of bots that think bring, a row costs the writer some microseconds more, and the server as a whole stays
within its spread. Only flat out, with 400 moves a commit, is a move dearer by about an eighth. For that, nothing is
ever moved, swept or merged, a match is read by its key, and what a write requires of its match is one condition
of `_append_statement`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, TypeVar

import sqlalchemy as sa

from arena.match.events import from_journal
from arena.server.store import database, schema, sqlite
from arena.server.store.lease import Lease, require
from arena.server.store.schema import events, matches, servers

T = TypeVar("T")


class NotOpen(Exception):
    """An event belongs to a match that this server does not play: one line that names the match."""


class EventRow(NamedTuple):
    """A row to be written, in the order in which the statement names its values."""

    seq: int
    """The number of the last event in it."""
    event: str
    """The event, after the turn that it ends where there is one, as `match.events.to_journal` writes them."""
    match: str


class Rows:
    """The rows of one run of a server: `write` in a transaction, and `written` when that is durable.

    A transaction of which `written` is not told has failed, or is durable all the same and nobody was told of it:
    what it wrote of a match that goes on is deleted by the next one.
    """

    def __init__(self, lease: Lease) -> None:
        """lease: with the name under which the matches of this server stand in the store."""
        self._lease = lease
        self._playing: frozenset[str] = frozenset()
        """The matches in progress of which this run has durably opened or written something."""
        self._playing_then = self._playing
        """What `_playing` was when the last transaction was written."""
        self._in_doubt: list[EventRow] = []
        """What was written to matches that go on, and is not known to be durable."""

    def write(
        self,
        connection: sa.Connection,
        opened: Collection[str],
        rows: Sequence[EventRow],
        closed: Collection[str],
    ) -> None:
        """Write these rows in the transaction in which these matches are opened and closed.

        A row takes the place of one of the same number. A match that has been taken out of the store meanwhile gets
        no rows, and the others are not held up by that; under a lease that is lost no match gets any. Raises
        NotOpen for a match that is over, or that another server plays.
        """
        _delete_from(connection, self._in_doubt)
        going_on = [row for row in rows if row.match not in closed] if closed else rows
        self._in_doubt = [*self._in_doubt, *going_on]
        playing = self._playing.union(opened) if opened else self._playing
        if strange := [row for row in rows if row.match not in playing]:
            _take_over(connection, self._lease.name, strange)
        if rows:
            sqlite.execute_many(connection, _append_statement(connection.dialect, self._lease), rows)
        # Most transactions open and close nothing: with hundreds of matches in progress none of these sets is copied then.
        if strange:
            playing = playing.union(row.match for row in strange)
        self._playing_then = playing.difference(closed) if closed else playing

    def may_append(self, rows: Sequence[EventRow]) -> bool:
        """Whether nothing but `append` is needed for these: this run knows their matches, and nothing is in doubt."""
        playing = self._playing
        return not self._in_doubt and all(row.match in playing for row in rows)

    def append(self, connection: sa.Connection, rows: Sequence[EventRow]) -> None:
        """Write these rows in a transaction with nothing else in it, as nearly always. Raises LeaseLost.

        SQLite is asked by its driver alone, so that it may be a transaction of the driver's.
        """
        require(connection, self._lease)
        self._in_doubt = list(rows)
        self._playing_then = self._playing
        sqlite.execute_many(connection, _append_statement(connection.dialect, self._lease), rows)

    def written(self) -> None:
        """What was written last is durable."""
        self._playing = self._playing_then
        self._in_doubt = []


def _take_over(connection: sa.Connection, server: str, rows: Sequence[EventRow]) -> None:
    """Make ready for the first rows of matches that this run has not opened itself. Raises NotOpen.

    What a run that was killed has brought in after this one had read the match was told to nobody: it is deleted.
    """
    wanted = {row.match for row in rows}
    going_on = sa.select(matches.c.match).where(matches.c.server == server, matches.c.finished.is_(None))
    found: set[str] = set()
    for some in chunks(wanted):
        found.update(connection.execute(going_on.where(matches.c.match.in_(some))).scalars())
    if strange := wanted - found:
        raise NotOpen(f"no match {min(strange)!r} is in progress on this server")
    _delete_from(connection, rows)


def _delete_from(connection: sa.Connection, rows: Sequence[EventRow]) -> None:
    """Delete of each match in progress what is in the store from the first event of the first of these rows on.

    A match that is over stays as it is: its end was durable with all that belongs to it, also where nobody was told.
    """
    first: dict[str, EventRow] = {}
    for row in rows:
        first.setdefault(row.match, row)
    if not first:
        return
    in_progress = (matches.c.match == sa.bindparam("which")) & matches.c.finished.is_(None)
    number = sa.select(matches.c.number).where(in_progress).scalar_subquery()
    untold = (events.c.number == number) & (events.c.seq >= sa.bindparam("begin"))
    given = [
        {"which": row.match, "begin": row.seq + 1 - len(from_journal(row.event))} for row in first.values()
    ]
    connection.execute(sa.delete(events).where(untold), given)


def chunks(wanted: Iterable[T], most: int = 500) -> Iterator[list[T]]:
    """These values, so many at a time: as many as a query may name, unless told otherwise."""
    rest = iter(wanted)
    while some := list(islice(rest, most)):
        yield some


@lru_cache(maxsize=8)
def _append_statement(dialect: sa.Dialect, lease: Lease) -> str:
    """The statement as text: SQLAlchemy's own way through a statement costs more than the database's."""
    row = sa.select(
        matches.c.number, sa.bindparam("seq", type_=sa.Integer), sa.bindparam("event", type_=sa.Text)
    ).where(
        matches.c.match == sa.bindparam("match", type_=schema.MATCH_ID),
        matches.c.finished.is_(None),
        # As text, for a value that never changes would go along with every row.
        matches.c.server == sa.literal_column(_quoted(lease.name), sa.String),
        servers.c.name == matches.c.server,
        servers.c.number == sa.literal_column(str(lease.number), sa.Integer),
    )
    return str(database.insert_or_update(dialect.name, events, row).compile(dialect=dialect))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
