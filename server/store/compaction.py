"""Packs finished matches whole: their terms and their journal go beside the record, compressed, into one row.

While a match is in progress each event is a row, and at its end only the record is packed, so that nobody waits for
more. What is left is packed here, a few matches in a transaction. Nothing is lost by it: whoever reads a match is given
the same before and after. What is over never changes any more, so it is read and packed before the transaction begins.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import anyio.to_thread
import msgspec
import sqlalchemy as sa
from anyio.lowlevel import checkpoint
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store.database import reading
from arena.server.store.packing import Whole, pack_whole, record_in
from arena.server.store.schema import events, matches, records

FOUND = 48
"""Matches that are read and packed together: to ask a database for a few costs as much as to ask for many."""
CHUNK = 8
"""How many of these are written in one transaction beside a journal, which on SQLite waits a millisecond or two for it."""

Write = Callable[[Callable[[sa.Connection], None]], Awaitable[None]]
"""Something that does work in a transaction."""


class _Found(NamedTuple):
    """A match that is not packed yet."""

    number: int
    packed: bytes
    terms: str
    events: str
    """A JSON object of its events, by their numbers."""


async def compact(engine: AsyncEngine, write: Write | None = None) -> int:
    """Pack every finished match that is not packed yet, and return how many these were.

    write: writes in a transaction of a connection that is open already, as the journal's is
    """
    total = 0
    while found := await _some(engine, FOUND):
        pieces = await anyio.to_thread.run_sync(_pieces, found)
        if write is None:
            async with engine.begin() as connection:
                await connection.run_sync(_keep, pieces)
        else:
            for first in range(0, len(pieces), CHUNK):
                await write(partial(_keep, pieces=pieces[first : first + CHUNK]))
        total += len(found)
        await checkpoint()
    return total


async def _some(engine: AsyncEngine, most: int) -> list[_Found]:
    async with reading(engine) as connection:
        rows = (await connection.execute(_NOT_PACKED, {"most": most})).all()
        if not rows:
            return []
        numbers = {"these": [row.number for row in rows]}
        told = (await connection.execute(_events_query(engine.dialect.name), numbers)).all()
    happened = {each.number: each.events for each in told}
    return [_Found(row.number, row.packed, row.terms, happened.get(row.number, "{}")) for row in rows]


def _in_order(collected: str) -> list[str]:
    return [event for _, event in sorted(_decode_events(collected).items())]


def _pieces(found: list[_Found]) -> list[dict[str, Any]]:
    return [
        {
            "which": each.number,
            "piece": pack_whole(Whole(record_in(each.packed), each.terms, _in_order(each.events))),
        }
        for each in found
    ]


def _keep(connection: sa.Connection, pieces: list[dict[str, Any]]) -> None:
    """Put these pieces in the place of what they were made of. Another server may have done so already."""
    connection.execute(_KEEP, pieces)
    numbers = {"these": [piece["which"] for piece in pieces]}
    connection.execute(_FORGET_TERMS, numbers)
    connection.execute(_FORGET_EVENTS, numbers)


# The condition of the partial index, word by word: what is packed already is not looked through.
_NOT_PACKED = (
    sa.select(records.c.number, records.c.packed, matches.c.terms)
    .join(matches, matches.c.number == records.c.number)
    .where(sa.text("NOT records.whole"))
    .order_by(records.c.number)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_THESE: sa.BindParameter[Sequence[int]] = sa.bindparam("these", expanding=True)
_KEEP = (
    sa.update(records)
    .where(records.c.number == sa.bindparam("which"), sa.text("NOT records.whole"))
    .values(packed=sa.bindparam("piece", type_=sa.LargeBinary), whole=True)
)
_FORGET_TERMS = sa.update(matches).where(matches.c.number.in_(_THESE)).values(terms="")
_FORGET_EVENTS = sa.delete(events).where(events.c.number.in_(_THESE))
_decode_events = msgspec.json.Decoder(dict[int, str]).decode


@lru_cache(maxsize=2)
def _events_query(kind: str) -> sa.Select[Any]:
    """Finds all events of these matches: a row for each match, with a JSON object of its events by their numbers.

    For each row that SQLite finds, its thread and the event loop take turns with the interpreter.
    """
    collect = sa.func.json_object_agg if kind == "postgresql" else sa.func.json_group_object
    collected = sa.cast(collect(events.c.seq, events.c.event), sa.Text).label("events")
    return sa.select(events.c.number, collected).where(events.c.number.in_(_THESE)).group_by(events.c.number)
