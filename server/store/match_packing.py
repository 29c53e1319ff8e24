"""Pack finished matches: compress the record, the terms (players, game and clocks) and the events of each into one row.

While a match is in progress, its events are rows of the table `events`. At its end only the record is packed, so that
the players do not wait. `pack_finished_matches` packs the rest later, a few matches per transaction. Code that reads a
match gets the same data before and after.

A match is read and packed before the transaction begins. If a bot of the match is renamed or deleted meanwhile, the
stored record differs from the one that was read, and the match is packed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import anyio.to_thread
import msgspec
import sqlalchemy as sa
from anyio.lowlevel import checkpoint

from arena.server.store import database
from arena.server.store.database import Engine, open_query_connection
from arena.server.store.packing import PackableMatch, pack_match, unpack_record
from arena.server.store.schema import events, matches, records

PACKED_MATCHES_PER_QUERY = 48
"""Number of matches read with one query. A query for fewer matches would take almost as long."""
PACKED_MATCHES_PER_TRANSACTION = 8
"""Number of packed (compressed) matches that are written in one transaction.

A transaction with so many matches takes 1 to 2 ms, during which a server on SQLite stores no moves.
"""


class _PartlyPackedMatch(NamedTuple):
    """Finished match whose record is packed (compressed), but whose terms (players, clocks) and events (moves) are not yet."""

    number: int
    """Number of the match's row in `matches`."""
    packed_record: bytes
    """Record of the match, compressed, as read from the store."""
    terms_json: str
    """Terms of the match (players, game, time controls and rules) as JSON."""
    events_json: str
    """Rows of the match in the table `events`, as a JSON object: the text of each row, by the number of its last event."""


async def pack_finished_matches(engine: Engine) -> int:
    """Pack (compress) the terms and events of each finished match that has only its record packed.

    Return the number of matches.
    """
    packed_count = 0
    while batch := await _load_partly_packed_matches(engine, PACKED_MATCHES_PER_QUERY):
        packed_matches = await anyio.to_thread.run_sync(_pack_matches, batch)
        for chunk in database.split_into_chunks(packed_matches, PACKED_MATCHES_PER_TRANSACTION):
            packed_count += await database.run_in_transaction(
                engine, partial(_store_packed_matches, packed_matches=chunk)
            )
        await checkpoint()
    return packed_count


async def _load_partly_packed_matches(engine: Engine, limit: int) -> list[_PartlyPackedMatch]:
    async with open_query_connection(engine) as connection:
        rows = (await connection.execute(_SELECT_PARTLY_PACKED_MATCHES, {"max_matches": limit})).all()
        if not rows:
            return []
        numbers = {"match_numbers": [row.number for row in rows]}
        events = (await connection.execute(_build_events_query(engine.dialect.name), numbers)).all()
    events_by_number = {event.number: event.events for event in events}
    return [
        _PartlyPackedMatch(row.number, row.packed, row.terms, events_by_number.get(row.number, "{}"))
        for row in rows
    ]


def _pack_matches(batch: list[_PartlyPackedMatch]) -> list[dict[str, Any]]:
    """Compress the record, terms and events of each match together. Return a dict for each match, to be stored.

    The dict has these keys:
    - `match_number`
    - `packed_record`: compressed record as read from the store, to notice if the stored record has changed since
    - `packed_match`: compressed record, terms and events, which replace the stored record
    """
    packed_matches = []
    for match in batch:
        events = [event for _, event in sorted(_decode_event_rows(match.events_json).items())]
        packed = pack_match(PackableMatch(unpack_record(match.packed_record), match.terms_json, events))
        packed_matches.append(
            {"match_number": match.number, "packed_record": match.packed_record, "packed_match": packed}
        )
    return packed_matches


def _store_packed_matches(connection: sa.Connection, packed_matches: list[dict[str, Any]]) -> int:
    """Store the packed (compressed) data of matches, delete their unpacked terms and events, and return the number of matches.

    packed_matches: a dict for each match: its `match_number`; `packed_record`, the compressed record as it was read; and
        `packed_match`, the compressed record, terms and events that replace the record

    A match whose record has changed since the read is skipped and not counted. A match that another server has packed
    meanwhile is counted.
    """
    connection.execute(_STORE_PACKED_RECORD, packed_matches)
    numbers = {"match_numbers": [match["match_number"] for match in packed_matches]}
    packed = {"match_numbers": connection.execute(_SELECT_PACKED_MATCH_NUMBERS, numbers).scalars().all()}
    connection.execute(_CLEAR_PACKED_TERMS, packed)
    connection.execute(_DELETE_PACKED_EVENTS, packed)
    return len(packed["match_numbers"])


# The condition must equal the condition of the partial index literally, so that packed matches are not scanned.
_SELECT_PARTLY_PACKED_MATCHES = (
    sa.select(records.c.number, records.c.packed, matches.c.terms)
    .join(matches, matches.c.number == records.c.number)
    .where(sa.text("NOT records.whole"))
    .order_by(records.c.number)
    .limit(sa.bindparam("max_matches", type_=sa.Integer))
)
_MATCH_NUMBERS_PARAMETER: sa.BindParameter[Sequence[int]] = sa.bindparam("match_numbers", expanding=True)
_STORE_PACKED_RECORD = (
    sa.update(records)
    .where(
        records.c.number == sa.bindparam("match_number"),
        records.c.packed == sa.bindparam("packed_record", type_=sa.LargeBinary),
        sa.text("NOT records.whole"),
    )
    .values(packed=sa.bindparam("packed_match", type_=sa.LargeBinary), whole=True)
)
_SELECT_PACKED_MATCH_NUMBERS = sa.select(records.c.number).where(
    records.c.number.in_(_MATCH_NUMBERS_PARAMETER), sa.text("records.whole")
)
_CLEAR_PACKED_TERMS = (
    sa.update(matches).where(matches.c.number.in_(_MATCH_NUMBERS_PARAMETER)).values(terms="")
)
_DELETE_PACKED_EVENTS = sa.delete(events).where(events.c.number.in_(_MATCH_NUMBERS_PARAMETER))
_decode_event_rows = msgspec.json.Decoder(dict[int, str]).decode
"""Function that decodes `_PartlyPackedMatch.events_json`: the text of each row of events, by the number of its last event."""


@lru_cache(maxsize=2)
def _build_events_query(dialect: str) -> sa.Select[Any]:
    """Return the query for all events of some matches, with one row per match: a JSON object of all events of the match.

    The query's parameter `match_numbers` holds the numbers of the matches. One row per event would be slower, because the
    program switches between SQLite's thread and the event loop for each row.
    """
    collect = sa.func.json_object_agg if dialect == "postgresql" else sa.func.json_group_object
    collected = sa.cast(collect(events.c.seq, events.c.event), sa.Text).label("events")
    return (
        sa.select(events.c.number, collected)
        .where(events.c.number.in_(_MATCH_NUMBERS_PARAMETER))
        .group_by(events.c.number)
    )
