"""What the journal has written, read from the store: a match's terms, what happened in it, its record."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import sqlalchemy as sa
from anyio.lowlevel import checkpoint
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from match.events import Timed, from_journal, from_line
from match.terms import Terms, from_json
from protocol.record import Record
from protocol.record import from_line as record_of_line
from server.store import database
from server.store.journal.batches import Line, by_match, chunks, lines_in, quoted
from server.store.schema import batches, events, matches


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
    # The batches first: what is moved to `events` meanwhile is then met twice, and not missed.
    lately = await _lately(connection, wanted)
    parts: dict[str, list[Part]] = {}
    for some in chunks(wanted):
        query = sa.select(events).where(events.c.match.in_(some)).order_by(events.c.match, events.c.seq)
        for row in (await connection.execute(query)).all():
            parts.setdefault(row.match, []).append((row.seq, from_journal(row.at, row.event)))
    for match, lines in lately.items():
        parts.setdefault(match, []).extend((seq, from_line(kept)) for _, seq, kept in lines)
    return {match: _each_once(some) for match, some in parts.items()}


Part = tuple[int, list[Timed]]
"""Some events of a match that follow each other, and the number of the last of them."""


def _each_once(parts: Iterable[Part]) -> list[Timed]:
    """All events of a match. A part may begin with what came before: it was written again, or moved meanwhile."""
    happened: list[Timed] = []
    last = -1
    for seq, part in parts:
        happened += part[max(0, len(part) - (seq - last)) :]
        last = max(last, seq)
    return happened


async def _lately(connection: AsyncConnection, wanted: Collection[str]) -> dict[str, list[Line]]:
    """What the batches have of those of the matches that are not over."""
    playing: dict[str, str] = {}
    for some in chunks(wanted):
        open_ones = sa.select(matches.c.match, matches.c.server).where(matches.c.record.is_(None))
        rows = await connection.execute(open_ones.where(matches.c.match.in_(some)))
        playing |= {row.match: row.server for row in rows.all()}
    if not playing:
        return {}
    query = sa.select(batches.c.events).where(batches.c.server.in_(set(playing.values())))
    if len(playing) == 1:
        query = query.where(batches.c.events.contains(quoted(*playing), autoescape=True))
    texts = [row.events async for row in await connection.stream(query)]
    lines: list[Line] = []
    for text in texts:
        lines += lines_in(text, playing)
        await checkpoint()  # a busy server's batches are large, and it may be playing
    return by_match(lines)


async def records_of(engine: AsyncEngine, event: str) -> list[Record]:
    """The finished matches of an event, in the order in which they began."""
    mine = (matches.c.event == event) & matches.c.record.is_not(None)
    query = sa.select(matches.c.record).where(mine)
    query = query.order_by(matches.c.started, matches.c.match)
    async with database.reading(engine) as connection:
        return [record_of_line(text) for text in (await connection.execute(query)).scalars()]
