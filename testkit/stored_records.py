"""Records of the finished matches in a store: functions that load or import these records."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.protocol.record import Record, parse_record_line
from arena.server.store import database
from arena.server.store.archive import ImportResult, import_matches, parse_archive_lines
from arena.server.store.finished_matches import IS_FINISHED_MATCH
from arena.server.store.packing import unpack_record
from arena.server.store.schema import matches, records


async def load_event_records(engine: AsyncEngine, event_name: str) -> list[Record]:
    """Return the records of all finished matches of an event, in order of their start."""
    query = sa.select(records.c.packed).join(matches, matches.c.number == records.c.number)
    query = query.where(matches.c.event == event_name, IS_FINISHED_MATCH)
    query = query.order_by(matches.c.started, matches.c.match)
    return [
        parse_record_line(unpack_record(packed)) for packed in (await database.fetch(engine, query)).scalars()
    ]


async def import_record_lines(
    engine: AsyncEngine, lines: Iterable[bytes], *, counts_rated_matches: bool = False
) -> ImportResult:
    """Import the matches in `lines`, match records in JSON, into a store, as `arena import` does.

    counts_rated_matches: True to rate the rated matches, as with the option `--trust`
    """
    result = ImportResult()
    await import_matches(
        engine, parse_archive_lines(lines, result), result, counts_rated_matches=counts_rated_matches
    )
    return result
