"""What the journal has written, read from the store: a match's terms, what happened in it, its record."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.match.events import Timed, from_journal
from arena.match.terms import Terms, from_json
from arena.protocol.record import Record, from_line
from arena.server.store import database
from arena.server.store.journal.rows import chunks
from arena.server.store.packing import record_in, unpack_terms, unpack_whole
from arena.server.store.schema import events, matches, records

LAST_CHARACTER = "\U0010ffff"
"""Stands after every character that an id may have."""


class Begun(NamedTuple):
    """A match that has begun: its terms, and all that is kept of it where it has been packed."""

    terms: Terms
    packed: bytes | None


async def begun(engine: AsyncEngine, prefix: str, player: str = "", most: int = 2) -> list[Begun]:
    """The matches whose ids begin with `prefix`, at most so many; those of `player` alone where one is named."""
    given = {"first": prefix, "last": prefix + LAST_CHARACTER, "most": most}
    if player:
        given["player"] = player
    async with database.reading(engine) as connection:
        rows = (await connection.execute(_BEGUN_OF if player else _BEGUN, given)).all()
    return [
        Begun(from_json(row.terms or unpack_terms(row.packed)), row.packed if row.whole else None)
        for row in rows
    ]


# As a range, which is read from the index: ids are in the order of their bytes. Made once, for to make a query takes
# SQLAlchemy as long as the database takes for it.
_BEGUN = (
    sa.select(matches.c.terms, records.c.packed, records.c.whole)
    .where(matches.c.match >= sa.bindparam("first"), matches.c.match < sa.bindparam("last"))
    .outerjoin(records, records.c.number == matches.c.number)
    .order_by(matches.c.match)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_BEGUN_OF = _BEGUN.where(
    sa.bindparam("player", type_=matches.c.maxie.type).in_([matches.c.maxie, matches.c.minnie])
)


async def begin_with(engine: AsyncEngine, prefix: str, most: int) -> int:
    """How many matches have ids that begin with `prefix`; they are counted up to so many."""
    some = sa.select(matches.c.match).where(
        matches.c.match >= prefix, matches.c.match < prefix + LAST_CHARACTER
    )
    async with database.reading(engine) as connection:
        counted = sa.select(sa.func.count()).select_from(some.limit(most).subquery())
        return (await connection.execute(counted)).scalar_one()


async def events_of(engine: AsyncEngine, match: str) -> list[Timed]:
    """What happened in a match, in order."""
    async with database.reading(engine) as connection:
        return (await events_of_all(connection, [match])).get(match, [])


def events_in(packed: bytes) -> list[Timed]:
    """What happened in a match of which all is packed, in order; nothing where the match was imported."""
    return [timed for text in unpack_whole(packed).events for timed in from_journal(text)]


async def events_of_all(connection: AsyncConnection, wanted: Collection[str]) -> dict[str, list[Timed]]:
    """What happened in each of these matches, in order; without those of which nothing is known."""
    found: dict[str, list[Timed]] = {}
    for some in chunks(wanted):
        query = sa.select(matches.c.match, events.c.event).join(events, events.c.number == matches.c.number)
        query = query.where(matches.c.match.in_(some)).order_by(events.c.number, events.c.seq)
        # A stream, as a large server has hundreds of matches in progress when it comes back after a crash.
        async for row in await connection.stream(query):
            found.setdefault(row.match, []).extend(from_journal(row.event))
        # After the rows: those of a match that is packed meanwhile have been read then, or are in its packed piece.
        packed = sa.select(matches.c.match, records.c.packed).join(
            records, records.c.number == matches.c.number
        )
        packed = packed.where(matches.c.match.in_(some), records.c.whole)
        async for row in await connection.stream(packed):
            if happened := events_in(row.packed):
                found[row.match] = happened
    return found


async def records_of(engine: AsyncEngine, event: str) -> list[Record]:
    """The finished matches of an event, in the order in which they began."""
    query = sa.select(records.c.packed).join(matches, matches.c.number == records.c.number)
    query = query.where(matches.c.event == event, matches.c.finished.is_not(None))
    query = query.order_by(matches.c.started, matches.c.match)
    async with database.reading(engine) as connection:
        return [from_line(record_in(packed)) for packed in (await connection.execute(query)).scalars()]
