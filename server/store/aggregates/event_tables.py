"""Stored results of each event: its matches, its bots, and their scores.

An event is a tournament, a ladder, or the open pool, in which a server pairs all bots that are free.
`server.store.aggregates.match_counting` adds each finished match to the tables. So reading a table takes equally long,
however many matches it counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import sqlalchemy as sa
from msgspec import Struct, field

from arena.protocol.values import Players
from arena.rating.rater import FinishedMatch
from arena.server.store.database import Engine, fetch, make_upsert, open_query_connection
from arena.server.store.finished_matches import make_result_from_row
from arena.server.store.schema import event_bots, event_scores, event_totals, matches

MAX_BOTS_IN_FULL_EVENT_TABLE = 100
"""Maximum number of bots in an event (tournament or open pool) for its table to list all of them.

The limit is only for events that any bot may join at any time, such as the open pool (matches that belong to no tournament).
"""
BOTS_IN_PARTIAL_EVENT_TABLE = 40
"""Number of bots in the table of an event that has more than MAX_BOTS_IN_FULL_EVENT_TABLE bots: those with the most matches.

A partial table is only for events that any bot may join at any time, such as the open pool (matches of no tournament).
"""


class EventMatchCount(Struct, frozen=True):
    """Name of an event (such as a tournament), and the number of its matches, finished and in progress together."""

    event: str
    match_count: int = field(name="matches")


class EventScores(NamedTuple):
    """Results of an event (tournament, ladder, or open pool of other matches), from which the event's table is made."""

    match_count: int
    """Number of the event's finished matches that are counted, including matches of bots that are not in `bots`."""
    bots: list[str]
    """Sorted names of the bots in the table: all bots of the event, or only those with the most matches."""
    result_counts: list[tuple[FinishedMatch, int]]
    """Each distinct result (players in their seats, and outcome) between bots in `bots`, with its number of matches.

    Only the fields `players` and `result` of each FinishedMatch are set. The match id and the game are empty.
    """


class EventMatchResult(NamedTuple):
    """Result of a finished match, as counted in the table of its event (tournament, ladder, or open pool of other matches)."""

    event: str
    maxie: str
    minnie: str
    winner_seat: str
    """Seat of the winner, `maxie` or `minnie`; empty if nobody won."""
    reason: str
    """End reason, a value of `protocol.codes.EndReason`."""


def add_event_results(connection: sa.Connection, results: Iterable[EventMatchResult]) -> None:
    """Add the results of finished matches to the tables of their events, in the caller's transaction."""
    score_counts = Counter(results)
    match_counts: Counter[tuple[str]] = Counter()
    bot_counts: Counter[tuple[str, str]] = Counter()
    for result, count in score_counts.items():
        match_counts[(result.event,)] += count
        for bot in {result.maxie, result.minnie}:
            bot_counts[result.event, bot] += count
    counters: tuple[tuple[sa.Table, Counter[Any]], ...] = (
        (event_totals, match_counts),
        (event_bots, bot_counts),
        (event_scores, score_counts),
    )
    for table, counts in counters:
        key_columns = [column.name for column in table.primary_key]
        # A fixed order prevents deadlocks between transactions.
        rows = [dict(zip(key_columns, key, strict=True)) | {"matches": counts[key]} for key in sorted(counts)]
        if rows:
            connection.execute(make_upsert(connection.dialect.name, table, ("matches",)), rows)


async def list_events_with_matches(engine: Engine, limit: int) -> list[EventMatchCount]:
    """Return up to `limit` events (such as tournaments) with a match, finished or in progress, by descending name."""
    finished_query = sa.select(event_totals.c.event, event_totals.c.matches)
    finished_query = finished_query.order_by(event_totals.c.event.desc()).limit(limit)
    unfinished_query = sa.select(matches.c.event, sa.func.count()).where(matches.c.finished.is_(None))
    unfinished_query = (
        unfinished_query.group_by(matches.c.event).order_by(matches.c.event.desc()).limit(limit)
    )
    counts: Counter[str] = Counter()
    for query in (finished_query, unfinished_query):
        for event, count in await fetch(engine, query):
            counts[event] += count
    return [EventMatchCount(event, counts[event]) for event in sorted(counts, reverse=True)[:limit]]


async def count_finished_matches(engine: Engine, event_name: str) -> int | None:
    """Return the number of finished matches in the table of an event (such as a tournament); None if there is no table."""
    query = sa.select(event_totals.c.matches).where(event_totals.c.event == event_name)
    return (await fetch(engine, query)).scalar_one_or_none()


async def has_matches_in_progress(engine: Engine, event_name: str) -> bool:
    """Return True if a match of the event (such as a tournament) is in progress on any server of the store."""
    query = (
        sa.select(matches.c.number)
        .where(matches.c.event == event_name, matches.c.finished.is_(None))
        .limit(1)
    )
    return (await fetch(engine, query)).first() is not None


async def load_event_scores(
    engine: Engine, event_name: str, *, includes_all_bots: bool
) -> EventScores | None:
    """Return the results from which the table of an event (such as a tournament) is made; None if it has no match yet.

    includes_all_bots: True for the results of all bots. If False, and the event has more than MAX_BOTS_IN_FULL_EVENT_TABLE bots,
        only the results between the BOTS_IN_PARTIAL_EVENT_TABLE bots with the most matches are returned.
    """
    total_query = sa.select(event_totals.c.matches).where(event_totals.c.event == event_name)
    bots_query = sa.select(event_bots.c.bot).where(event_bots.c.event == event_name)
    bots_query = bots_query.order_by(event_bots.c.matches.desc(), event_bots.c.bot)
    results_query = sa.select(event_scores).where(event_scores.c.event == event_name)
    async with open_query_connection(engine) as connection:
        match_count = (await connection.execute(total_query)).scalar_one_or_none()
        if match_count is None:
            return None
        limited_bots_query = (
            bots_query if includes_all_bots else bots_query.limit(MAX_BOTS_IN_FULL_EVENT_TABLE + 1)
        )
        names = (await connection.execute(limited_bots_query)).scalars().all()
        bots = sorted(names)
        if not includes_all_bots and len(names) > MAX_BOTS_IN_FULL_EVENT_TABLE:
            bots = sorted(names[:BOTS_IN_PARTIAL_EVENT_TABLE])
            results_query = results_query.where(
                event_scores.c.maxie.in_(bots), event_scores.c.minnie.in_(bots)
            )
        rows = (await connection.execute(results_query)).all()
    return EventScores(match_count, bots, [(_make_finished_match_from_row(row), row.matches) for row in rows])


def _make_finished_match_from_row(row: sa.Row[Any]) -> FinishedMatch:
    return FinishedMatch("", "", Players(row.maxie, row.minnie), make_result_from_row(row))
