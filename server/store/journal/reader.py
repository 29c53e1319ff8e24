"""What the journal has written, read from the store: a match's terms, what happened in it, its record."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from match.events import Timed, from_journal
from match.terms import Terms, from_json
from protocol.record import Record, from_line
from server.store import database
from server.store.journal.rows import chunks
from server.store.schema import events, matches


async def begun(engine: AsyncEngine, prefix: str, player: str = "", most: int = 2) -> list[Terms]:
    """The terms of the matches whose ids begin with `prefix`, at most so many; of `player` alone where one is named."""
    query = sa.select(matches.c.terms).where(matches.c.match.startswith(prefix, autoescape=True))
    if player:
        query = query.where((matches.c.maxie == player) | (matches.c.minnie == player))
    async with database.reading(engine) as connection:
        return [from_json(text) for text in (await connection.execute(query.limit(most))).scalars()]


async def events_of(engine: AsyncEngine, match: str) -> list[Timed]:
    """What happened in a match, in order."""
    async with database.reading(engine) as connection:
        return (await events_of_all(connection, [match])).get(match, [])


async def events_of_all(connection: AsyncConnection, wanted: Collection[str]) -> dict[str, list[Timed]]:
    """What happened in each of these matches, in order; without those of which nothing is known."""
    found: dict[str, list[Timed]] = {}
    for some in chunks(wanted):
        query = sa.select(matches.c.match, events.c.event).join(events, events.c.number == matches.c.number)
        query = query.where(matches.c.match.in_(some)).order_by(events.c.number, events.c.seq)
        # A stream, as a large server has hundreds of matches in progress when it comes back after a crash.
        async for row in await connection.stream(query):
            found.setdefault(row.match, []).extend(from_journal(row.event))
    return found


async def records_of(engine: AsyncEngine, event: str) -> list[Record]:
    """The finished matches of an event, in the order in which they began."""
    mine = (matches.c.event == event) & matches.c.record.is_not(None)
    query = sa.select(matches.c.record).where(mine)
    query = query.order_by(matches.c.started, matches.c.match)
    async with database.reading(engine) as connection:
        return [from_line(text) for text in (await connection.execute(query)).scalars()]
