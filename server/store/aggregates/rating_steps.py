"""What rated matches have made of the ratings of their bots: the steps that were counted, match by match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.rating.steps import Outcome, RatingStep
from arena.server.store.schema import matches, rating_steps, records

RATED = sa.text("matches.rated AND matches.counted AND matches.finished IS NOT NULL")


async def counted_matches(connection: AsyncConnection, most: int, *, after: int = 0) -> Sequence[sa.Row[Any]]:
    """The rated matches that were counted, in the order in which they were, with what is packed of them.

    after: the arrival of the one before the first
    """
    query = (
        sa.select(matches, records.c.packed, records.c.whole)
        .join(records, records.c.number == matches.c.number)
        .where(RATED, matches.c.arrival > after)
        .order_by(matches.c.arrival)
        .limit(most)
    )
    return (await connection.execute(query)).all()


async def steps_of(connection: AsyncConnection, names: Sequence[str]) -> dict[str, dict[str, RatingStep]]:
    """The steps of these matches, by match and by seat."""
    query = sa.select(rating_steps).where(rating_steps.c.match.in_(names))
    found: dict[str, dict[str, RatingStep]] = {}
    for row in (await connection.execute(query)).all():
        found.setdefault(row.match, {})[row.seat] = step_of(row)
    return found


def step_of(row: sa.Row[Any]) -> RatingStep:
    """The step in a row of `rating_steps`."""
    return RatingStep(
        match=row.match,
        seat=row.seat,
        game=row.game,
        bot=row.bot,
        finished=row.finished,
        outcome=Outcome(row.outcome),
        forfeit=row.forfeit,
        crash=row.crash,
        rating=row.rating,
        deviation=row.deviation,
        volatility=row.volatility,
    )
