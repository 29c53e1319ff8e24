"""Read matches from the store: their terms (game, players, time control) and their events (such as moves)."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.match.referee_events import TimedEvent, decode_journal_row
from arena.match.terms import MatchTerms, decode_terms
from arena.server.store import database
from arena.server.store.database import Engine
from arena.server.store.packing import unpack_match, unpack_terms
from arena.server.store.schema import LAST_UNICODE_CHARACTER, events, matches, records


class StartedMatch(NamedTuple):
    """Match in the store, in progress or finished: its terms (players, game, clocks) and, once packed, its compressed data."""

    terms: MatchTerms
    packed_match: bytes | None
    """Record, terms and events, compressed (`server.store.packing`); None until some time after the end of the match."""


async def find_matches_by_id_prefix(
    engine: Engine, match_id_prefix: str, player_name: str = ""
) -> list[StartedMatch]:
    """Return the first two matches whose ids begin with `match_id_prefix`, in order of id; fewer if there are not two.

    Two matches are enough to tell whether the prefix is unique.

    player_name: name of a bot, to search only its matches; empty for the matches of all bots
    """
    parameters = {"first": match_id_prefix, "last": match_id_prefix + LAST_UNICODE_CHARACTER}
    if player_name:
        parameters["player"] = player_name
    query = _SELECT_STARTED_MATCHES_OF_PLAYER if player_name else _SELECT_STARTED_MATCHES
    rows = await database.fetch(engine, query, parameters)
    return [
        StartedMatch(decode_terms(row.terms or unpack_terms(row.packed)), row.packed if row.whole else None)
        for row in rows
    ]


# Ids are sorted by their bytes, so the index finds this range. The query is built once, because SQLAlchemy takes as long
# to build it as the database to run it.
_SELECT_STARTED_MATCHES = (
    sa.select(matches.c.terms, records.c.packed, records.c.whole)
    .where(matches.c.match >= sa.bindparam("first"), matches.c.match < sa.bindparam("last"))
    .outerjoin(records, records.c.number == matches.c.number)
    .order_by(matches.c.match)
    .limit(2)
)
_SELECT_STARTED_MATCHES_OF_PLAYER = _SELECT_STARTED_MATCHES.where(
    sa.bindparam("player", type_=matches.c.maxie.type).in_([matches.c.maxie, matches.c.minnie])
)


async def load_events_of_match(engine: Engine, match_id: str) -> list[TimedEvent]:
    """Return the events of a match, in order; an empty list for an unknown or an imported match."""
    async with database.open_query_connection(engine) as connection:
        return (await read_events_by_match(connection, [match_id])).get(match_id, [])


def unpack_events(packed_match: bytes) -> list[TimedEvent]:
    """Return the events (such as moves) in the compressed data of a match, in order; an empty list for an imported match."""
    return [timed for text in unpack_match(packed_match).event_rows for timed in decode_journal_row(text)]


async def read_events_by_match(
    connection: AsyncConnection, match_ids: Collection[str]
) -> dict[str, list[TimedEvent]]:
    """Return the events of each match, in order, by match id. Matches without stored events are left out."""
    events_by_match: dict[str, list[TimedEvent]] = {}
    for chunk in database.split_into_chunks(match_ids):
        query = sa.select(matches.c.match, events.c.event).join(events, events.c.number == matches.c.number)
        query = query.where(matches.c.match.in_(chunk)).order_by(events.c.number, events.c.seq)
        # Streamed, because a large server has hundreds of matches in progress when it restarts after a crash.
        async for row in await connection.stream(query):
            events_by_match.setdefault(row.match, []).extend(decode_journal_row(row.event))
        # The packed data are read last: if a match is packed meanwhile, its events are found in one of the two places.
        packed = sa.select(matches.c.match, records.c.packed).join(
            records, records.c.number == matches.c.number
        )
        packed = packed.where(matches.c.match.in_(chunk), records.c.whole)
        async for row in await connection.stream(packed):
            if match_events := unpack_events(row.packed):
                events_by_match[row.match] = match_events
    return events_by_match
