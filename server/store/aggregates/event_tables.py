"""The kept table of each event: how many matches it had, who played them, and how they ended.

`server.store.aggregates.counting` adds to it, so reading takes no longer however many matches there were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.protocol.values import Players
from arena.rating.steps import Ended
from arena.server.store.aggregates.standings import adding
from arena.server.store.database import reading
from arena.server.store.finished import result_of
from arena.server.store.schema import event_bots, event_scores, event_totals, matches

MOST_IN_TABLE = 100
"""Bots of an event that are all in its table: rating so many takes half a second."""
BEST_KNOWN = 40
"""Bots in the table of an event with more than that, as of one that guests come to: those that have played most."""


class Event(Struct, frozen=True):
    """An event and how many matches of it have been played or are in progress."""

    event: str
    matches: int


class EventScores(NamedTuple):
    """What is known of an event."""

    counted: int
    """Its finished matches."""
    bots: list[str]
    """Those who have played most of them, by name."""
    scores: list[tuple[Ended, int]]
    """How often two of these ended a match so."""


class Ending(NamedTuple):
    """A finished match, as the tables of events count it."""

    event: str
    maxie: str
    minnie: str
    winner: str
    """Empty where nobody won."""
    reason: str


def add_endings(connection: sa.Connection, endings: Iterable[Ending]) -> None:
    """Add these matches to the tables of their events."""
    scores = Counter(endings)
    totals: Counter[tuple[str]] = Counter()
    bots: Counter[tuple[str, str]] = Counter()
    for ending, count in scores.items():
        totals[(ending.event,)] += count
        for bot in {ending.maxie, ending.minnie}:
            bots[ending.event, bot] += count
    kept: tuple[tuple[sa.Table, Counter[Any]], ...] = (
        (event_totals, totals),
        (event_bots, bots),
        (event_scores, scores),
    )
    for table, counts in kept:
        keys = [column.name for column in table.primary_key]
        # In one order everywhere, so that no two transactions ever wait for each other.
        rows = [dict(zip(keys, key, strict=True)) | {"matches": counts[key]} for key in sorted(counts)]
        if rows:
            connection.execute(adding(connection.dialect.name, table, ("matches",)), rows)


async def events_with_matches(engine: AsyncEngine, most: int) -> list[Event]:
    """The events that were counted or have matches in progress, the last by name first."""
    finished = sa.select(event_totals.c.event, event_totals.c.matches)
    finished = finished.order_by(event_totals.c.event.desc()).limit(most)
    going_on = sa.select(matches.c.event, sa.func.count()).where(matches.c.finished.is_(None))
    going_on = going_on.group_by(matches.c.event).order_by(matches.c.event.desc()).limit(most)
    found: Counter[str] = Counter()
    async with reading(engine) as connection:
        for query in (finished, going_on):
            for event, count in (await connection.execute(query)).all():
                found[event] += count
    return [Event(event, found[event]) for event in sorted(found, reverse=True)[:most]]


async def counted_in(engine: AsyncEngine, event: str) -> int | None:
    """How many finished matches of an event have been counted; None where it has none."""
    query = sa.select(event_totals.c.matches).where(event_totals.c.event == event)
    async with reading(engine) as connection:
        return (await connection.execute(query)).scalar_one_or_none()


async def is_going_on(engine: AsyncEngine, event: str) -> bool:
    """Whether an event has matches in progress."""
    query = sa.select(matches.c.number).where(matches.c.event == event, matches.c.finished.is_(None)).limit(1)
    async with reading(engine) as connection:
        return (await connection.execute(query)).first() is not None


async def event_scores_of(engine: AsyncEngine, event: str) -> EventScores | None:
    """How the matches of an event ended between the bots that have played most of them; None where it has none."""
    total = sa.select(event_totals.c.matches).where(event_totals.c.event == event)
    most = sa.select(event_bots.c.bot).where(event_bots.c.event == event)
    most = most.order_by(event_bots.c.matches.desc(), event_bots.c.bot).limit(MOST_IN_TABLE + 1)
    async with reading(engine) as connection:
        counted = (await connection.execute(total)).scalar_one_or_none()
        if counted is None:
            return None
        names = (await connection.execute(most)).scalars().all()
        bots = sorted(names if len(names) <= MOST_IN_TABLE else names[:BEST_KNOWN])
        query = sa.select(event_scores).where(
            event_scores.c.event == event, event_scores.c.maxie.in_(bots), event_scores.c.minnie.in_(bots)
        )
        rows = (await connection.execute(query)).all()
    return EventScores(counted, bots, [(_ended(row), row.matches) for row in rows])


def _ended(row: sa.Row[Any]) -> Ended:
    return Ended("", "", Players(row.maxie, row.minnie), result_of(row))
