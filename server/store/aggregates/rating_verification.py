"""Verify the stored ratings: recompute all ratings from the journal, and compare them with the stored ones.

The journal holds the events of each match. A referee replays every rated match from its events. If the result differs
from the stored record, the verification fails. Otherwise the result is counted in the recomputed ratings.

An imported match has no events, so its record is checked against the rules of the game instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import structs
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.games.core import GameError
from arena.match.referee import Referee
from arena.match.referee_events import TimedEvent
from arena.match.replay import format_result, verify_record
from arena.match.terms import decode_terms
from arena.protocol.codes import EndReason
from arena.protocol.record import BadRecord, Record, Result, parse_record_line
from arena.rating.rater import (
    CurrentRating,
    RatedOutcome,
    Rater,
    RatingCategory,
    RatingStep,
    make_rating_categories,
)
from arena.server.store import database
from arena.server.store.aggregates.ratings import (
    make_current_rating_from_row,
    make_rating_key_from_row,
    read_ratings_after_pruning,
)
from arena.server.store.database import Engine
from arena.server.store.finished_matches import make_match_end_values
from arena.server.store.journal.reader import read_events_by_match
from arena.server.store.packing import UnpackError, unpack_match, unpack_record
from arena.server.store.schema import matches, rating_steps, records
from arena.server.store.schema import standings as standings_table

VERIFIED_MATCHES_PER_QUERY = 100
"""Number of matches that `verify_ratings` reads in one query."""
RELATIVE_RATING_TOLERANCE = 1e-9
"""Relative difference up to which ratings count as equal, because floating-point results differ between machines."""


class RatingsMismatch(Exception):
    """Raised when a stored rating or match record differs from the recomputed one, or cannot be read.

    The message is one line, which names the match or the bot, and the difference.
    """


@dataclass
class VerifiedRatings:
    """Numbers of matches whose ratings were recomputed, and found equal to the stored ones."""

    match_count: int = 0
    imported_match_count: int = 0
    """Number of the recomputed matches that were imported, and so have no stored events to replay."""


async def verify_ratings(engine: Engine) -> VerifiedRatings:
    """Replay all matches that the ratings include, recompute the ratings, and compare them with the stored ones.

    The computation starts from the ratings that the bots had when matches were last removed from the store. Each
    query reads VERIFIED_MATCHES_PER_QUERY matches, from a snapshot of the store. Raises RatingsMismatch for the first difference.
    """
    verified = VerifiedRatings()
    async with database.open_snapshot_connection(engine) as connection:
        rater = Rater(await connection.run_sync(read_ratings_after_pruning))
        last_arrival = 0
        while rows := await _read_counted_matches(connection, VERIFIED_MATCHES_PER_QUERY, last_arrival):
            match_ids = [row.match for row in rows]
            events_by_match = await read_events_by_match(connection, match_ids)
            steps = await _read_rating_steps(connection, match_ids)
            seasons = {match: category.season for match, _, category in steps}
            for row in rows:
                record = _replay_match(row, events_by_match.get(row.match))
                verified.match_count += 1
                verified.imported_match_count += row.match not in events_by_match
                columns = make_match_end_values(record)
                season = seasons.get(row.match, 1)
                for category in make_rating_categories(
                    record.game, columns["map"], columns["time_control"], season
                ):
                    for step in rater.rate_match(record, row.finished, category):
                        _require_same_rating_step(step, steps.get((row.match, step.seat, category)))
            last_arrival = rows[-1].arrival
        await _require_equal_current_ratings(connection, rater)
    return verified


async def _require_equal_current_ratings(connection: AsyncConnection, rater: Rater) -> None:
    """Raise RatingsMismatch unless the ratings in the table `standings` equal those in `rater`.

    rater: ratings after the recomputation of all matches
    """
    stored_standings = {
        make_rating_key_from_row(row): make_current_rating_from_row(row)
        for row in (await connection.execute(sa.select(standings_table))).all()
    }
    for key in sorted(stored_standings.keys() | rater.current_ratings.keys()):
        recomputed, stored_rating = rater.current_ratings.get(key), stored_standings.get(key)
        if recomputed is None or stored_rating is None or not _are_equal_ratings(recomputed, stored_rating):
            category, bot = key
            category_text = " ".join(filter(None, category[:3]))
            raise RatingsMismatch(
                f"{bot} in {category_text}: the recomputed rating is {_format_current_rating(recomputed)}, but the stored one is {_format_current_rating(stored_rating)}"
            )


def _format_current_rating(rating: CurrentRating | None) -> str:
    return "missing" if rating is None else f"{rating.rating:.4f} ± {rating.deviation:.4f}"


def _are_equal_ratings(rating: CurrentRating, other_rating: CurrentRating) -> bool:
    return all(
        math.isclose(getattr(rating, name), getattr(other_rating, name), rel_tol=RELATIVE_RATING_TOLERANCE)
        for name in ("rating", "deviation", "volatility")
    )


def _replay_match(row: sa.Row[Any], timed_events: list[TimedEvent] | None) -> Record:
    """Replay a match from its events, and return its stored record with the result of the replay.

    The record of an imported match, which has no events, is checked against the rules of the game, and returned unchanged.

    row: row of the table `matches`, with the match's packed data
    timed_events: events of the match; None for an imported match

    Raises RatingsMismatch if the replay differs from the stored record, or if the stored data cannot be read.
    """
    try:
        record = parse_record_line(unpack_record(row.packed))
        if timed_events is None:
            verify_record(record)
            return record
        referee = Referee(decode_terms(row.terms or unpack_match(row.packed).terms_json))
    except (UnpackError, BadRecord, GameError, msgspec.DecodeError) as error:
        raise RatingsMismatch(
            f"match {row.match} cannot be replayed, because its stored data cannot be read: {error}"
        ) from None
    for at, event in timed_events:
        referee.handle_event(event, at)
    replayed_result = referee.recorded_result
    # A match that the server could not continue is void, and its journal has no end.
    result = (
        structs.replace(replayed_result, detail="")
        if replayed_result is not None
        else Result(None, EndReason.SERVER_FAULT)
    )
    recorded_result = Result(record.result.winner, record.result.reason)
    if result != recorded_result:
        raise RatingsMismatch(
            f"match {row.match}: the journal says that {format_result(result)}, but the record says that {format_result(recorded_result)}"
        )
    if replayed_result is not None and [move.move for move in referee.moves] != [
        move.move for move in record.moves
    ]:
        raise RatingsMismatch(f"match {row.match}: the moves in the journal differ from those in the record")
    return structs.replace(record, players=referee.terms.players, game=referee.terms.game.name, result=result)


def _require_same_rating_step(step: RatingStep, stored_step: RatingStep | None) -> None:
    stored_text = "missing" if stored_step is None else _format_rating_step(stored_step)
    if stored_step is None or not _is_same_rating_step(step, stored_step):
        raise RatingsMismatch(
            f"match {step.match}: the recomputed rating of {step.bot} is {_format_rating_step(step)}, but the stored one is {stored_text}"
        )


def _is_same_rating_step(step: RatingStep, stored_step: RatingStep) -> bool:
    zeroed_numbers = dict.fromkeys(("rating", "deviation", "volatility"), 0.0)
    is_same_otherwise = structs.replace(step, **zeroed_numbers) == structs.replace(
        stored_step, **zeroed_numbers
    )
    return is_same_otherwise and _are_equal_ratings(step, stored_step)


def _format_rating_step(step: RatingStep) -> str:
    return f"{step.rating:.4f} ± {step.deviation:.4f} after a {step.outcome.value}"


_IS_COUNTED_RATED_MATCH = sa.text("matches.rated AND matches.counted AND matches.finished IS NOT NULL")


async def _read_counted_matches(
    connection: AsyncConnection, limit: int, after_arrival: int
) -> Sequence[sa.Row[Any]]:
    """Return up to `limit` rated matches that the ratings include, with their packed (compressed) data.

    The order is that of the arrival numbers, which the store assigns to matches as they finish.

    after_arrival: arrival number of the last match that was read already; 0 to begin with the first match
    """
    query = (
        sa.select(matches, records.c.packed, records.c.whole)
        .join(records, records.c.number == matches.c.number)
        .where(_IS_COUNTED_RATED_MATCH, matches.c.arrival > after_arrival)
        .order_by(matches.c.arrival)
        .limit(limit)
    )
    return (await connection.execute(query)).all()


async def _read_rating_steps(
    connection: AsyncConnection, match_ids: Sequence[str]
) -> dict[tuple[str, str, RatingCategory], RatingStep]:
    """Return the stored rating steps (rating changes) of the matches with these ids, by match id, seat and category."""
    query = sa.select(rating_steps).where(rating_steps.c.match.in_(match_ids))
    steps = [make_rating_step_from_row(row) for row in (await connection.execute(query)).all()]
    return {(step.match, step.seat, step.category): step for step in steps}


def make_rating_step_from_row(row: sa.Row[Any]) -> RatingStep:
    """Return the rating step (change of a bot's rating by a match) in a row of the table `rating_steps`."""
    fields = {name: getattr(row, name) for name in RatingStep.__struct_fields__}
    return RatingStep(**fields | {"outcome": RatedOutcome(row.outcome)})
