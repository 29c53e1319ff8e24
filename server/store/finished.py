"""Finished matches as lists show them: without their moves, the newest first, or those of one event.

Records are decoded only as far as they are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio.lowlevel
import msgspec
import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncEngine

from protocol.messages import Players
from protocol.record import FORMAT, Record, Result
from server.store.database import reading
from server.store.schema import matches

MOST_BYTES = 4 * 1024 * 1024
"""Bytes of records that one list reads: it ends early after long ones, and is asked for the rest by its `next`."""
READ_AT_ONCE = 4
"""Records that are read before their bytes are counted."""
CHUNK = 100
"""Records that are decoded before everybody else has a turn."""

Place = tuple[str, str]
"""A match's place in the order of finishing: when it finished, and its id."""


class _Setup(Struct, frozen=True):
    map: str = ""


class Heading(Struct, frozen=True):
    """A finished match without its moves, decoded from its record."""

    match: str
    event: str
    game: str
    setup: _Setup
    players: Players
    time_control: str
    started: str
    moves: list[msgspec.Raw]
    result: Result


class Shown(Struct, frozen=True):
    """A finished match as a list shows it."""

    match: str
    event: str
    game: str
    map: str
    players: Players
    time_control: str
    finished: str
    plies: int
    result: Result


class MatchList(Struct, frozen=True):
    """A stretch of finished matches, the newest first; `next` is where the following one begins."""

    matches: list[Shown]
    next: str | None


async def record_of(engine: AsyncEngine, match: str) -> str | None:
    """The record of a finished match, as one line of JSON; None where there is no such match."""
    query = sa.select(matches.c.record).where(matches.c.match == match)
    async with reading(engine) as connection:
        found: str | None = (await connection.execute(query)).scalar_one_or_none()
    return found


async def match_list(
    engine: AsyncEngine, limit: int, *, before: Place | None = None, bot: str = "", game: str = ""
) -> MatchList:
    """The newest finished matches, at most `limit`: those before a place, of a bot, of a game.

    There are fewer where their records are so long that more would be too much to read for one question.
    """
    rows, more = await _rows(engine, limit + 1, before, bot, game)
    more = more or len(rows) > limit
    shown = [_shown(row) for row in rows[:limit]]
    last = f"{shown[-1].finished}|{shown[-1].match}" if more and shown else None
    return MatchList(shown, last)


async def latest_of(engine: AsyncEngine, bot: str, limit: int) -> list[Shown]:
    """The newest finished matches of a bot: at most `limit`, which may be more than are decoded in one turn, and
    no more than `MOST_BYTES` of records.
    """
    rows, _ = await _rows(engine, limit, None, bot, "")
    shown: list[Shown] = []
    for start in range(0, len(rows), CHUNK):
        shown += [_shown(row) for row in rows[start : start + CHUNK]]
        await anyio.lowlevel.checkpoint()
    return shown


async def records_without_moves(engine: AsyncEngine, event: str, limit: int) -> list[Record]:
    """The finished matches of an event without setup and moves, which no table needs; those that began first."""
    query = sa.select(matches.c.record).where(matches.c.event == event, matches.c.record.is_not(None))
    query = query.order_by(matches.c.started, matches.c.match).limit(limit)
    found: list[Record] = []
    async with reading(engine) as connection, connection.stream(query) as result:
        async for texts in result.scalars().partitions(CHUNK):
            found += [_without_moves(_heading(text)) for text in texts]
            await anyio.lowlevel.checkpoint()
    return found


async def _rows(
    engine: AsyncEngine, limit: int, before: Place | None, bot: str, game: str
) -> tuple[Sequence[Any], bool]:
    """The rows, and whether there may be more because so many bytes were read."""
    query = sa.select(matches.c.finished, matches.c.record).where(matches.c.finished.is_not(None))
    if before is not None:
        place = sa.tuple_(matches.c.finished, matches.c.match)
        query = query.where(place < sa.tuple_(*map(sa.literal, before)))
    if bot:
        query = query.where((matches.c.maxie == bot) | (matches.c.minnie == bot))
    if game:
        query = query.where(matches.c.game == game)
    query = query.order_by(matches.c.finished.desc(), matches.c.match.desc()).limit(limit)
    rows: list[Any] = []
    size = 0
    async with reading(engine) as connection, connection.stream(query) as result:
        async for some in result.partitions(READ_AT_ONCE):
            rows += some
            size += sum(len(row.record) for row in some)
            if size > MOST_BYTES:
                return rows, True
    return rows, False


def _heading(text: str) -> Heading:
    return msgspec.json.decode(text, type=Heading)


def _shown(row: sa.Row[Any]) -> Shown:
    head = _heading(row.record)
    return Shown(
        head.match,
        head.event,
        head.game,
        head.setup.map,
        head.players,
        head.time_control,
        row.finished,
        len(head.moves),
        head.result,
    )


def _without_moves(head: Heading) -> Record:
    return Record(
        format=FORMAT,
        match=head.match,
        event=head.event,
        game=head.game,
        setup={},
        players=head.players,
        time_control=head.time_control,
        started=head.started,
        moves=[],
        result=head.result,
    )
