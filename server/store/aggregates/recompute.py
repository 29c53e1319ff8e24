"""The ratings computed anew from the journal, and held against those that the store has.

Every rated match is played again by a referee from its journaled events, and what comes out is rated; the
records are only compared. A match that was imported has no journal: its record is held against the rules.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import structs
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.games.core import GameError
from arena.match.events import Timed
from arena.match.referee import SEATS, Referee
from arena.match.replay import verify
from arena.match.terms import from_json
from arena.protocol.codes import EndReason
from arena.protocol.record import BadRecord, Record, Result, from_line
from arena.rating.glicko import Rating
from arena.rating.steps import Known, Rater, RatingStep
from arena.server.store import database
from arena.server.store.aggregates.rating_steps import counted_matches, steps_of
from arena.server.store.aggregates.standings import bases, known_of
from arena.server.store.journal.reader import events_of_all
from arena.server.store.packing import Unreadable, record_in, unpack_whole
from arena.server.store.schema import standings as standings_table

CHUNK = 100
"""Matches that are read at once."""
TOLERANCE = 1e-9
"""Relative difference up to which ratings are the same: functions may differ in their last digit between machines."""


class Differs(Exception):
    """Names the first match of which the store and the journal tell different things, and says what they tell."""


@dataclass
class Recomputed:
    """How much was recomputed, with the same result."""

    matches: int = 0
    imported: int = 0
    """Matches among them that were imported, and have no journal."""


async def recompute(engine: AsyncEngine, *, at_once: int = CHUNK) -> Recomputed:
    """Compute the ratings of all counted matches anew, on from those that were removed; it reads `at_once` together.

    Raises Differs.

    It sees the store as it was at the beginning, whatever happens meanwhile.
    """
    done = Recomputed()
    async with database.snapshot(engine) as connection:
        rater = Rater(await connection.run_sync(bases))
        after = 0
        while rows := await counted_matches(connection, at_once, after=after):
            names = [row.match for row in rows]
            journal, steps = await events_of_all(connection, names), await steps_of(connection, names)
            for row in rows:
                record = _from_journal(row, journal.get(row.match))
                done.matches += 1
                done.imported += row.match not in journal
                for step in rater.count(record, row.finished):
                    _compare(step, steps.get(row.match, {}).get(step.seat))
            after = rows[-1].arrival
        await _compare_standings(connection, rater)
    return done


async def _compare_standings(connection: AsyncConnection, rater: Rater) -> None:
    """Hold the kept table of each game against what comes out. Raises Differs."""
    kept = {
        (row.game, row.bot): known_of(row)
        for row in (await connection.execute(sa.select(standings_table))).all()
    }
    for game, bot in sorted(kept.keys() | rater.last.keys()):
        found, said = rater.last.get((game, bot)), kept.get((game, bot))
        if found is None or said is None or not _close(found.after(), said.after()):
            raise Differs(f"{bot} has {_number(found)} in {game}, but the table says {_number(said)}")


def _number(rating: RatingStep | Known | None) -> str:
    return "no rating" if rating is None else f"{rating.rating:.4f} ± {rating.deviation:.4f}"


def _close(one: Rating, other: Rating) -> bool:
    return all(
        math.isclose(getattr(one, name), getattr(other, name), rel_tol=TOLERANCE)
        for name in ("rating", "deviation", "volatility")
    )


def _from_journal(row: sa.Row[Any], journal: list[Timed] | None) -> Record:
    """The record as the events tell it. Raises Differs when it is not the one that was kept."""
    try:
        kept = from_line(record_in(row.packed))
        if journal is None:
            verify(kept)
            return kept
        referee = Referee(from_json(row.terms or unpack_whole(row.packed).terms))
    except (Unreadable, BadRecord, GameError, msgspec.DecodeError) as error:
        raise Differs(f"match {row.match}: {error}") from None
    for at, event in journal:
        referee.handle(event, at)
    found = referee.result
    # A match that the server could not go on with is void, and its journal has no end.
    result = (
        Result(SEATS[found.winner] if found.winner else None, found.reason)
        if found
        else Result(None, EndReason.SERVER_FAULT)
    )
    said = Result(kept.result.winner, kept.result.reason)
    if result != said:
        raise Differs(f"match {row.match}: the journal says {_words(result)}, the record {_words(said)}")
    if found is not None and [each.move for each in referee.moves] != [each.move for each in kept.moves]:
        raise Differs(f"match {row.match}: the journal has other moves than the record")
    return structs.replace(kept, players=referee.terms.players, game=referee.terms.game.name, result=result)


def _compare(step: RatingStep, kept: RatingStep | None) -> None:
    said = "nothing" if kept is None else _rated(kept)
    if kept is None or not _same(step, kept):
        raise Differs(f"match {step.match}: {step.bot} has {_rated(step)}, but the store says {said}")


def _same(step: RatingStep, kept: RatingStep) -> bool:
    rest = dict.fromkeys(("rating", "deviation", "volatility"), 0.0)
    same = structs.replace(step, **rest) == structs.replace(kept, **rest)
    return same and _close(step.after(), kept.after())


def _rated(step: RatingStep) -> str:
    return f"{step.rating:.4f} ± {step.deviation:.4f} after a {step.outcome.value}"


def _words(result: Result) -> str:
    return f"{result.winner or 'nobody'} wins by {result.reason.value}"
