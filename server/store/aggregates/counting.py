"""Counts finished matches, each once and in the order in which they came in, into all that is kept of many.

A rated match makes a step of the rating of each of its bots, and goes into the table of its game; every match goes
into the table of its event. Whoever counts does it in short transactions, one at a time over all servers. A match
that comes in late, or tells of a time long ago or yet to come, is counted when it is there, and nothing is counted again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import anyio.lowlevel
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.protocol.values import Players
from arena.rating.steps import Ended, Rater, RatingStep
from arena.server.store import database
from arena.server.store.aggregates import event_tables, standings
from arena.server.store.aggregates.event_tables import Ending
from arena.server.store.finished import result_of
from arena.server.store.schema import matches, rating_steps

CHUNK = 8
"""Matches that are counted in one transaction: on SQLite the journal waits for it, and it takes some milliseconds."""
ALONE = 200
"""How many those are where no journal waits."""

Counted = tuple[int, list[RatingStep]]
"""How many matches were counted, and their steps."""
Write = Callable[[Callable[[sa.Connection], Counted]], Awaitable[Counted]]
"""Something that does work in a transaction."""


async def refresh(
    engine: AsyncEngine, write: Write | None = None, told: Callable[[RatingStep], None] = lambda _step: None
) -> int:
    """Count every finished match that is not counted yet, and return how many of them were rated.

    write: counts in a transaction of a connection that is open already, as the journal's is
    told: is told of each step, in order
    """
    total = 0
    while True:
        count, steps = await (write(_count_beside_journal) if write else _count_in_turn(engine))
        if not count:
            return total
        total += len(steps) // 2
        for step in steps:
            told(step)
        await anyio.lowlevel.checkpoint()


async def _count_in_turn(engine: AsyncEngine) -> Counted:
    async with database.exclusive(engine) as connection:
        return await connection.run_sync(_count_some, ALONE)


def _count_beside_journal(connection: sa.Connection) -> Counted:
    database.keep_others_out(connection)
    return _count_some(connection, CHUNK)


def _count_some(connection: sa.Connection, most: int) -> Counted:
    """Count some matches, in a transaction beside which nobody counts, and nobody gives a number of arrival."""
    rows = connection.execute(UNCOUNTED, {"most": most}).all()
    if not rows:
        return 0, []
    rated = [row for row in rows if row.rated]
    keys = {(row.game, bot) for row in rated for bot in (row.maxie, row.minnie)}
    rater = Rater(standings.last_ratings(connection, keys))
    steps: list[RatingStep] = []
    kept: list[dict[str, Any]] = []
    for row in rated:
        two = rater.count(_ended(row), row.finished)
        steps += two
        kept += [_row(step, row.arrival) for step in two]
    if kept:
        connection.execute(_KEEP, kept)
        standings.add_steps(connection, steps)
    event_tables.add_endings(connection, _endings(rows))
    connection.execute(_COUNTED, [{"which": row.number} for row in rows])
    return len(rows), steps


# The condition of the partial index, word by word: SQLAlchemy's `counted = 0` is not `NOT counted` to SQLite, which then
# looks through all matches that ever finished. These statements are made once: to make one takes SQLAlchemy longer than
# to execute it, and the journal waits meanwhile.
UNCOUNTED = (
    sa.select(
        *(
            matches.c[name]
            for name in (
                "number",
                "arrival",
                "match",
                "event",
                "game",
                "maxie",
                "minnie",
                "rated",
                "finished",
                "winner",
                "reason",
            )
        )
    )
    .where(sa.text("matches.finished IS NOT NULL AND NOT matches.counted"))
    .order_by(matches.c.arrival)
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_KEEP = sa.insert(rating_steps)
_COUNTED = sa.update(matches).where(matches.c.number == sa.bindparam("which")).values(counted=True)


def _ended(row: sa.Row[Any]) -> Ended:
    return Ended(row.match, row.game, Players(row.maxie, row.minnie), result_of(row))


def _row(step: RatingStep, arrival: int) -> dict[str, Any]:
    return {name: getattr(step, name) for name in RatingStep.__struct_fields__} | {"arrival": arrival}


def _endings(rows: Iterable[sa.Row[Any]]) -> list[Ending]:
    return [Ending(row.event, row.maxie, row.minnie, row.winner or "", row.reason) for row in rows]
