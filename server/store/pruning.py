"""Remove the oldest finished matches from a store, or move them to archive files, also while a server runs.

The oldest matches are those that the store received first. Ratings and tables of results stay as they are, because they
are stored separately. The ratings that the bots had after the removed matches are stored too, so that later ratings can
still be recomputed from them.
"""

from __future__ import annotations

import gzip
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
import sqlalchemy as sa
from anyio.lowlevel import checkpoint

from arena.atomic_file import replace_file_atomically
from arena.rating.rater import CurrentRating, RatingKey
from arena.server.store import database, errors
from arena.server.store.aggregates.ratings import make_rating_key_from_row, store_ratings_after_pruning
from arena.server.store.archive import MAX_CLOCK_SKEW, format_archive_line
from arena.server.store.database import Engine, fetch, open_query_connection
from arena.server.store.finished_matches import IS_FINISHED_MATCH
from arena.server.store.personal_data import remove_expired_data
from arena.server.store.schema import events, ladders, matches, rating_steps, records

log = logging.getLogger("arena.store")

REMOVED_MATCHES_PER_TRANSACTION = 20
"""Number of matches removed in one transaction, which takes some ms. Meanwhile, a server on SQLite stores no moves."""
MATCHES_PER_ARCHIVE_FILE = 1000
"""Maximum number of matches in one archive file."""

_RETENTION_PATTERN = re.compile(r"([0-9]{1,12})(d?)")


class BadRetention(ValueError):
    """Raised for a string that is not a retention rule (which matches to keep); the one-line message lists the valid forms."""


@dataclass(frozen=True)
class Retention:
    """Rule for which finished matches to keep: a number of the newest ones, or those of a number of recent days."""

    max_matches: int | None = None
    """Number of matches to keep; None if `max_age_days` decides."""
    max_age_days: int | None = None
    """Number of days to keep a match after its end; None if `max_matches` decides."""
    archive_folder: Path | None = None
    """Folder for archive files with the removed matches; None to delete the matches."""

    @classmethod
    def parse(cls, text: str, archive_folder: Path | None = None) -> Retention:
        """Return the rule in a string such as `90d` (days) or `1000000` (matches). Raises BadRetention for any other string.

        archive_folder: folder for archive files; None to delete the removed matches
        """
        parts = _RETENTION_PATTERN.fullmatch(text)
        if parts is None or (parts[2] and not 1 <= int(parts[1]) <= 36500):
            raise BadRetention(
                f"{text!r:.40} does not say which matches to keep: write a number of matches, e.g. 1000000, or an age in days, e.g. 90d"
            )
        number = int(parts[1])
        return (
            cls(max_age_days=number, archive_folder=archive_folder)
            if parts[2]
            else cls(max_matches=number, archive_folder=archive_folder)
        )


async def prune_matches(engine: Engine, retention: Retention) -> int:
    """Remove the matches that the retention rule does not keep, and return their number.

    If the rule has an archive folder, the matches are first written to files there. A file is complete before its
    matches are removed from the store, so an interruption loses no match, but may leave some in both places. Matches
    that the ratings do not include yet are kept, and so are matches of unfinished ladders and events. Raises
    errors.OperationRefused if a file cannot be written.
    """
    last_arrival = await _find_last_removable_arrival(engine, retention, datetime.now(UTC))
    removed_count, previous_arrival = 0, 0
    while rows := await _load_oldest_matches(engine, previous_arrival, last_arrival):
        previous_arrival = rows[-1].arrival
        if retention.archive_folder is not None:
            try:
                await anyio.to_thread.run_sync(_write_archive_file, retention.archive_folder, rows)
            except OSError as error:
                raise errors.OperationRefused(
                    f"cannot write into {retention.archive_folder}: {error.strerror}"
                ) from None
        for chunk in database.split_into_chunks(rows, REMOVED_MATCHES_PER_TRANSACTION):
            await database.run_in_transaction(engine, partial(_remove_matches, rows=chunk))
            await checkpoint()
        removed_count += len(rows)
    return removed_count


async def apply_retention(engine: Engine, retention: Retention | None) -> None:
    """Remove expired personal data, and the finished matches that `retention` does not keep; None keeps all matches.

    If the archive folder is unavailable, the matches stay, and a warning is logged.
    """
    await database.run_in_transaction(engine, remove_expired_data)
    if retention is None:
        return
    try:
        removed_count = await prune_matches(engine, retention)
    except errors.OperationRefused as error:
        log.warning("finished matches stay in the store, because they cannot be archived: %s", error)
        return
    if removed_count:
        archive_text = "" if retention.archive_folder is None else f", and are in {retention.archive_folder}"
        log.info("%d finished matches were removed from the store%s", removed_count, archive_text)


async def _find_last_removable_arrival(engine: Engine, retention: Retention, now: datetime) -> int:
    """Return the arrival number of the last match that `retention` allows to remove at the time `now`; 0 if there is none.

    Arrival numbers give the order in which the store received the matches. Matches that the ratings do not include yet
    have higher numbers than the returned one.
    """
    arrival = matches.c.arrival
    async with open_query_connection(engine) as connection:
        if retention.max_matches is not None:
            newest_query = sa.select(arrival).where(IS_FINISHED_MATCH).order_by(arrival.desc())
            last_arrival = await connection.scalar(newest_query.limit(1).offset(retention.max_matches))
        else:
            oldest = database.format_store_timestamp(now - timedelta(days=retention.max_age_days or 0))
            # A match with a time years ahead, from a wrong clock, must not keep all later matches in the store.
            latest = database.format_store_timestamp(now + MAX_CLOCK_SKEW)
            young_query = sa.select(sa.func.min(arrival)).where(
                IS_FINISHED_MATCH, matches.c.finished.between(oldest, latest)
            )
            first_kept = await connection.scalar(young_query)
            last_arrival = (
                await connection.scalar(sa.select(sa.func.max(arrival)).where(IS_FINISHED_MATCH))
                if first_kept is None
                else first_kept - 1
            )
        uncounted_query = sa.select(sa.func.min(arrival)).where(
            sa.text("matches.finished IS NOT NULL AND NOT matches.counted")
        )
        first_uncounted = await connection.scalar(uncounted_query)
    last_arrival = last_arrival or 0
    return last_arrival if first_uncounted is None else min(last_arrival, first_uncounted - 1)


async def _load_oldest_matches(engine: Engine, after_arrival: int, last_arrival: int) -> Sequence[Any]:
    """Return the oldest matches with arrival numbers above `after_arrival` and up to `last_arrival`.

    At most MATCHES_PER_ARCHIVE_FILE are returned. Matches of unfinished ladders and events are left out.
    """
    unfinished = sa.select(ladders.c.event).where(ladders.c.finished.is_(None))
    query = (
        sa.select(
            matches.c.number,
            matches.c.match,
            matches.c.arrival,
            matches.c.finished,
            matches.c.rated,
            records.c.packed,
        )
        .join(records, records.c.number == matches.c.number)
        .where(IS_FINISHED_MATCH, matches.c.arrival > after_arrival, matches.c.arrival <= last_arrival)
        .where(matches.c.event.not_in(unfinished))
        .order_by(matches.c.arrival)
        .limit(MATCHES_PER_ARCHIVE_FILE)
    )
    return (await fetch(engine, query)).all()


def _write_archive_file(archive_folder: Path, rows: Sequence[Any]) -> None:
    """Write matches, one per line, to a new compressed file in `archive_folder`. The file appears only when it is complete.

    The folder is created if it is missing. Raises OSError if the file cannot be written.
    """
    archive_folder.mkdir(parents=True, exist_ok=True)
    file = archive_folder / f"matches-{rows[0].arrival:012}-{rows[-1].arrival:012}.jsonl.gz"
    with replace_file_atomically(file) as part, gzip.open(part, "wt", encoding="utf-8") as archive:
        archive.writelines(f"{format_archive_line(row)}\n" for row in rows)


def _remove_matches(connection: sa.Connection, rows: Sequence[Any]) -> None:
    """Remove matches from the store, and store the ratings that their bots had after them.

    rows: one row for each match, with its id (`match`) and the number of its row in `matches` (`number`)
    """
    # If two servers remove the same matches, the slower one must not overwrite newer ratings with older ones.
    database.lock_store_exclusively(connection)
    match_ids, numbers = [row.match for row in rows], [row.number for row in rows]
    belongs_to_removed_match = rating_steps.c.match.in_(match_ids)
    # If a bot played itself, Minnie's step is the later one.
    steps = (
        sa.select(rating_steps)
        .where(belongs_to_removed_match)
        .order_by(rating_steps.c.arrival, rating_steps.c.seat)
    )
    bases: dict[RatingKey, CurrentRating] = {}
    for step in connection.execute(steps):
        bases[make_rating_key_from_row(step)] = CurrentRating(
            step.rating, step.deviation, step.volatility, step.finished
        )
    store_ratings_after_pruning(connection, bases)
    connection.execute(sa.delete(rating_steps).where(belongs_to_removed_match))
    for table in (events, records, matches):
        connection.execute(sa.delete(table).where(table.c.number.in_(numbers)))
