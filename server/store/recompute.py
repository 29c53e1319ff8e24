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

from games.core import GameError
from match.events import Timed
from match.referee import SEATS, Referee
from match.replay import verify
from match.terms import from_json
from protocol.codes import EndReason
from protocol.record import BadRecord, Record, Result, from_line
from rating.steps import Rater, RatingStep
from server.store import database
from server.store.journal.reader import events_of_all
from server.store.rating_steps import Place, rated_matches, step_of
from server.store.schema import rating_steps

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
    """Compute the ratings of all counted matches anew, of which it reads `at_once` together. Raises Differs.

    It sees the store as it was at the beginning, whatever happens meanwhile.
    """
    done = Recomputed()
    rater = Rater()
    async with database.snapshot(engine) as connection:
        after: Place | None = None
        while rows := await rated_matches(connection, at_once, after=after):
            names = [row.match for row in rows]
            journal, steps = await events_of_all(connection, names), await _steps(connection, names)
            for row in rows:
                if row.match not in steps:
                    continue  # finished after the store was counted
                record = _from_journal(row, journal.get(row.match))
                done.matches += 1
                done.imported += row.match not in journal
                for step in rater.count(record, row.finished):
                    _compare(step, steps[row.match].get(step.seat))
            after = (rows[-1].finished, rows[-1].match)
    return done


async def _steps(connection: AsyncConnection, names: list[str]) -> dict[str, dict[str, RatingStep]]:
    query = sa.select(rating_steps).where(rating_steps.c.match.in_(names))
    found: dict[str, dict[str, RatingStep]] = {}
    for row in (await connection.execute(query)).all():
        found.setdefault(row.match, {})[row.seat] = step_of(row)
    return found


def _from_journal(row: sa.Row[Any], journal: list[Timed] | None) -> Record:
    """The record as the events tell it. Raises Differs when it is not the one that was kept."""
    try:
        kept = from_line(row.record)
        if journal is None:
            verify(kept)
            return kept
        referee = Referee(from_json(row.terms))
    except (BadRecord, GameError, msgspec.DecodeError) as error:
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
    numbers = ("rating", "deviation", "volatility")
    rest = dict.fromkeys(numbers, 0.0)
    return structs.replace(step, **rest) == structs.replace(kept, **rest) and all(
        math.isclose(getattr(step, name), getattr(kept, name), rel_tol=TOLERANCE) for name in numbers
    )


def _rated(step: RatingStep) -> str:
    return f"{step.rating:.4f} ± {step.deviation:.4f} after a {step.outcome.value}"


def _words(result: Result) -> str:
    return f"{result.winner or 'nobody'} wins by {result.reason.value}"
