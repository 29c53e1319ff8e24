"""Removes the oldest finished matches from a store, or moves them to files.

Oldest are those that came in first. Ratings and tables stay as they are: they are kept apart from the matches, and the
ratings as of the last match that was removed are kept too, so that those of the others can still be computed anew.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
import sqlalchemy as sa
from anyio.lowlevel import checkpoint
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.rating.steps import Key, Known
from arena.server.store import database
from arena.server.store.aggregates.standings import keep_bases
from arena.server.store.archive import CLOCKS_DIFFER, archived_line
from arena.server.store.database import reading
from arena.server.store.schema import events, ladders, matches, rating_steps, records

CHUNK = 20
"""Matches that are removed in one transaction: on SQLite the journal waits for it, some milliseconds."""
IN_FILE = 1000
"""Matches of one file, at the most."""

Write = Callable[[Callable[[sa.Connection], None]], Awaitable[None]]
"""Something that does work in a transaction."""

_KEEP = re.compile(r"([0-9]{1,12})(d?)")


class BadRetention(ValueError):
    """A text that does not say how much is to be kept: one line that says what would."""


class ArchiveFailed(Exception):
    """Matches cannot be moved to a file, and stay in the store: one line that says why."""


@dataclass(frozen=True)
class Retention:
    """What is kept of the finished matches: the newest so many, or those of the last so many days."""

    most: int | None = None
    days: int | None = None
    archive: Path | None = None
    """The folder of the files to which the others are moved; without one they are removed."""

    @classmethod
    def parse(cls, text: str, archive: Path | None = None) -> Retention:
        """From `90d` or `1000000`. Raises BadRetention."""
        found = _KEEP.fullmatch(text)
        if found is None or (found[2] and not 1 <= int(found[1]) <= 36500):
            raise BadRetention(
                f"{text!r:.40} is neither a number of matches, as 1000000, nor of days, as 90d"
            )
        number = int(found[1])
        return cls(days=number, archive=archive) if found[2] else cls(most=number, archive=archive)


async def prune(engine: AsyncEngine, retention: Retention, write: Write | None = None) -> int:
    """Remove what is not to be kept, and return how many matches these were. Raises ArchiveFailed.

    Matches that were not counted yet stay, and those of a ladder that is not over. A file is whole before what is in
    it is removed from the store: of a prune that was cut short some matches may be in both, and none is in neither.

    write: writes in a transaction of a connection that is open already, as the journal's is
    """
    last = await _last_to_go(engine, retention, datetime.now(UTC))
    removed, after = 0, 0
    while rows := await _oldest(engine, after, last):
        after = rows[-1].arrival
        if retention.archive is not None:
            try:
                await anyio.to_thread.run_sync(_write_file, retention.archive, rows)
            except OSError as error:
                raise ArchiveFailed(f"cannot write into {retention.archive}: {error.strerror}") from None
        for start in range(0, len(rows), CHUNK):
            work = partial(_remove, rows=rows[start : start + CHUNK])
            if write is None:
                async with database.exclusive(engine) as connection:
                    await connection.run_sync(work)
            else:
                await write(partial(_beside_others, work))
            await checkpoint()
        removed += len(rows)
    return removed


async def _last_to_go(engine: AsyncEngine, retention: Retention, now: datetime) -> int:
    """The arrival of the last match that is not to be kept; 0 where all are."""
    finished = matches.c.finished.is_not(None)
    arrival = matches.c.arrival
    async with reading(engine) as connection:
        if retention.most is not None:
            newest = sa.select(arrival).where(finished).order_by(arrival.desc())
            last = await connection.scalar(newest.limit(1).offset(retention.most))
        else:
            oldest = database.written(now - timedelta(days=retention.days or 0))
            # A match of a wrong clock, years ahead, does not hold up all those that come after it.
            latest = database.written(now + CLOCKS_DIFFER)
            young = sa.select(sa.func.min(arrival)).where(
                finished, matches.c.finished.between(oldest, latest)
            )
            first_kept = await connection.scalar(young)
            last = (
                await connection.scalar(sa.select(sa.func.max(arrival)).where(finished))
                if first_kept is None
                else first_kept - 1
            )
        uncounted = sa.select(sa.func.min(arrival)).where(
            sa.text("matches.finished IS NOT NULL AND NOT matches.counted")
        )
        waiting = await connection.scalar(uncounted)
    return min(last or 0, (last or 0) if waiting is None else waiting - 1)


async def _oldest(engine: AsyncEngine, after: int, last: int) -> Sequence[Any]:
    """The oldest matches after one, up to the last, as many as go into one file."""
    going_on = sa.select(ladders.c.event).where(ladders.c.finished.is_(None))
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
        .where(matches.c.finished.is_not(None), matches.c.arrival > after, matches.c.arrival <= last)
        .where(matches.c.event.not_in(going_on))
        .order_by(matches.c.arrival)
        .limit(IN_FILE)
    )
    async with reading(engine) as connection:
        return (await connection.execute(query)).all()


def _write_file(folder: Path, rows: Sequence[Any]) -> None:
    """Write these matches as lines, compressed, into a file that is there only when all of it is on the disk."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"matches-{rows[0].arrival:012}-{rows[-1].arrival:012}.jsonl.gz"
    part = file.with_name(f".{file.name}.part")
    try:
        with part.open("wb") as raw:
            with gzip.GzipFile(fileobj=raw, mode="wb") as packed:
                for row in rows:
                    packed.write(f"{archived_line(row)}\n".encode())
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _beside_others(work: Callable[[sa.Connection], None], connection: sa.Connection) -> None:
    # Of two servers that remove the same matches, the slower one must not put older ratings in the place of newer.
    database.keep_others_out(connection)
    work(connection)


def _remove(connection: sa.Connection, rows: Sequence[Any]) -> None:
    """Remove these matches, and keep what their steps made of the ratings."""
    names, numbers = [row.match for row in rows], [row.number for row in rows]
    mine = rating_steps.c.match.in_(names)
    # Of a bot that played itself, Minnie's step is the later one.
    steps = sa.select(rating_steps).where(mine).order_by(rating_steps.c.arrival, rating_steps.c.seat)
    bases: dict[Key, Known] = {}
    for step in connection.execute(steps):
        bases[step.game, step.bot] = Known(step.rating, step.deviation, step.volatility, step.finished)
    keep_bases(connection, bases)
    connection.execute(sa.delete(rating_steps).where(mine))
    for table in (events, records, matches):
        connection.execute(sa.delete(table).where(table.c.number.in_(numbers)))
