"""Finished matches as lists show them, the newest first. No record is read for it: a match's own row has all of it.

Each list is read from an index in its order, so that it takes as long with a million matches as with a hundred.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from protocol.codes import EndReason
from protocol.record import Record, Result
from protocol.values import Players
from server.store.database import insert, reading
from server.store.packing import record_in
from server.store.schema import matches, records

LONGEST = {"map": 128, "time_control": 64, "detail": 500}
"""How many characters of these a list shows at the most: it is bounded in bytes however long a record is."""

SHOWN = ("map", "time_control", "plies", "winner", "reason", "detail")
"""The columns of `matches` that a match gets at its end."""

Place = tuple[str, str]
"""A match's place in the order of finishing: when it finished, and its id."""


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


def shown_of(record: Record) -> dict[str, Any]:
    """What the columns of SHOWN have of a record."""
    name, result = record.setup.get("map"), record.result
    texts = {
        "map": name if isinstance(name, str) else "",
        "time_control": record.time_odds.beside(record.time_control),
        "detail": result.detail,
    }
    # PostgreSQL keeps no NUL in a text.
    short = {column: text[: LONGEST[column]].replace("\0", "\ufffd") for column, text in texts.items()}
    return short | {"plies": len(record.moves), "winner": result.winner, "reason": result.reason.value}


@lru_cache(maxsize=2)
def keep_record(kind: str) -> sa.Insert:
    """Keeps what is packed of a match that is over, unless something is kept.

    Its parameters are `which`, the id, `packed`, and `whole`: whether the terms and the journal are in it.
    """
    given = sa.bindparam("packed", type_=sa.LargeBinary), sa.bindparam("whole", type_=sa.Boolean)
    over = (matches.c.match == sa.bindparam("which")) & matches.c.finished.is_not(None)
    row = sa.select(matches.c.number, *given).where(over)
    return insert(kind, records).from_select(["number", "packed", "whole"], row).on_conflict_do_nothing()


_REASONS = {each.value: each for each in EndReason}


def result_of(row: Any, detail: str = "") -> Result:
    """How a match ended by the `winner` and the `reason` in a row."""
    return Result(row.winner or None, _REASONS.get(row.reason) or EndReason.of(row.reason), detail)


async def record_of(engine: AsyncEngine, match: str) -> str | None:
    """The record of a finished match, as one line of JSON; None where there is no such match."""
    query = sa.select(records.c.packed).join(matches, matches.c.number == records.c.number)
    async with reading(engine) as connection:
        found = (await connection.execute(query.where(matches.c.match == match))).scalar_one_or_none()
    return None if found is None else record_in(found)


async def match_list(
    engine: AsyncEngine, limit: int, *, before: Place | None = None, bot: str = "", game: str = ""
) -> MatchList:
    """The newest finished matches, at most `limit`: those before a place, of a bot, of a game."""
    async with reading(engine) as connection:
        rows = await _rows(connection, limit + 1, before, bot, game)
    shown = [_shown(row) for row in rows[:limit]]
    last = f"{shown[-1].finished}|{shown[-1].match}" if len(rows) > limit and shown else None
    return MatchList(shown, last)


async def latest_of(connection: AsyncConnection, bot: str, limit: int) -> list[Shown]:
    """The newest finished matches of a bot, at most `limit`."""
    return [_shown(row) for row in await _rows(connection, limit, None, bot, "")]


async def _rows(
    connection: AsyncConnection, limit: int, before: Place | None, bot: str, game: str
) -> Sequence[Any]:
    """The rows, newest first. Of a bot, each seat in each game is a list of its own in its index, and they are merged."""
    games = [game] if game else await games_in(connection, matches.c.game, _FINISHED) if bot else []
    if bot and not games:
        return []
    given: dict[str, Any] = {"most": limit} | {f"game{number}": each for number, each in enumerate(games)}
    if bot:
        given["bot"] = bot
    if before is not None:
        given |= {"finished_before": before[0], "before": before[1]}
    statement = _statement(len(games), of_bot=bool(bot), before=before is not None)
    found: Sequence[Any] = (await connection.execute(statement, given)).all()
    return found


@lru_cache(maxsize=32)
def _statement(games: int, *, of_bot: bool, before: bool) -> sa.Select[Any]:
    """The query for a list, which is made once: to make one takes SQLAlchemy longer than the database takes for it."""
    names = [
        matches.c.game == sa.bindparam(f"game{number}", type_=matches.c.game.type) for number in range(games)
    ]
    if not of_bot:
        return _newest(names, before=before)
    bot = sa.bindparam("bot", type_=matches.c.maxie.type)
    # Whoever plays itself is found by the first seat.
    seats = [[matches.c.maxie == bot], [matches.c.minnie == bot, matches.c.maxie != bot]]
    lists = [_newest([*seat, name], before=before) for name in names for seat in seats]
    merged = sa.union_all(*(sa.select(each.subquery()) for each in lists)).subquery()
    newest_first = merged.c.finished.desc(), merged.c.number.desc()
    return sa.select(merged).order_by(*newest_first).limit(_MOST)


_FINISHED = matches.c.finished.is_not(None)
_MOST = sa.bindparam("most", type_=sa.Integer)


def _newest(conditions: Sequence[sa.ColumnElement[bool]], *, before: bool) -> sa.Select[Any]:
    columns = ("number", "match", "event", "game", "maxie", "minnie", "finished", *SHOWN)
    query = sa.select(*(matches.c[name] for name in columns)).where(
        *conditions, matches.c.finished.is_not(None)
    )
    if before:
        known = matches.alias("known")
        last = sa.bindparam("before", type_=matches.c.match.type)
        number = sa.select(known.c.number).where(known.c.match == last).scalar_subquery()
        # A match that has been removed meanwhile leaves its time, and all that finished then are passed over.
        finished = sa.bindparam("finished_before", type_=matches.c.finished.type)
        place = sa.tuple_(matches.c.finished, matches.c.number)
        query = query.where(place < sa.tuple_(finished, sa.func.coalesce(number, 0)))
    return query.order_by(matches.c.finished.desc(), matches.c.number.desc()).limit(_MOST)


async def games_in(connection: AsyncConnection, column: sa.Column[Any], *where: Any) -> list[str]:
    """The games in a column, of the rows that fulfil `where`, each found by one look into the column's index."""
    return list((await connection.execute(_games_in(column, where))).scalars())


@lru_cache(maxsize=8)  # the query for each column and each condition, both of which stand in the code
def _games_in(column: sa.Column[Any], where: tuple[Any, ...]) -> sa.Select[Any]:
    games = sa.select(sa.func.min(column).label("game")).where(*where).cte("games", recursive=True)
    following = sa.select(sa.func.min(column)).where(*where, column > games.c.game).scalar_subquery()
    games = games.union_all(sa.select(following).where(games.c.game.is_not(None)))
    return sa.select(games.c.game).where(games.c.game.is_not(None)).order_by(games.c.game)


def _shown(row: sa.Row[Any]) -> Shown:
    return Shown(
        row.match,
        row.event,
        row.game,
        row.map,
        Players(row.maxie, row.minnie),
        row.time_control,
        row.finished,
        row.plies,
        result_of(row, row.detail),
    )
