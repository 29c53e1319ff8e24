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

from arena.protocol.codes import EndReason
from arena.protocol.record import Record, Result
from arena.protocol.values import Players
from arena.server.store.database import insert, reading
from arena.server.store.packing import record_in
from arena.server.store.schema import matches, records
from arena.server.store.search.openings import FIRST_PLIES, opening_key

LONGEST = {"map": 128, "time_control": 64, "detail": 500}
"""How many characters of these a list shows at the most: it is bounded in bytes however long a record is."""

SHOWN = ("map", "time_control", "plies", "winner", "reason", "detail")
"""The columns of `matches` that a match gets at its end, and that lists show."""
AT_ITS_END = (*SHOWN, "opening")
"""All columns that a match gets at its end."""

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
    """What the columns of AT_ITS_END have of a record."""
    name, result = record.setup.get("map"), record.result
    texts = {
        "map": name if isinstance(name, str) else "",
        "time_control": record.time_odds.beside(record.time_control),
        "detail": result.detail,
    }
    # PostgreSQL keeps no NUL in a text.
    short = {column: text[: LONGEST[column]].replace("\0", "\ufffd") for column, text in texts.items()}
    opened = sum(each.opening for each in record.moves)
    first = [each.move for each in record.moves[: opened or FIRST_PLIES]]
    opening = opening_key(record.game, record.setup, first, opened)
    ended = {"plies": len(record.moves), "winner": result.winner, "reason": result.reason.value}
    return short | ended | {"opening": opening}


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


async def players_of_open(engine: AsyncEngine, match: str) -> Players | None:
    """The players of a match in the store that is not over; None where there is no such match."""
    query = sa.select(matches.c.maxie, matches.c.minnie)
    query = query.where(matches.c.match == match, matches.c.finished.is_(None))
    async with reading(engine) as connection:
        found = (await connection.execute(query)).one_or_none()
    return None if found is None else Players(found.maxie, found.minnie)


async def shown_match(engine: AsyncEngine, match: str) -> Shown | None:
    """A finished match as lists show it; None where there is no such match."""
    columns = ("match", "event", "game", "maxie", "minnie", "finished", *SHOWN)
    query = sa.select(*(matches.c[name] for name in columns))
    query = query.where(matches.c.match == match, matches.c.finished.is_not(None))
    async with reading(engine) as connection:
        row = (await connection.execute(query)).one_or_none()
    return None if row is None else shown(row)


async def match_list(
    engine: AsyncEngine,
    limit: int,
    *,
    before: Place | None = None,
    bot: str = "",
    game: str = "",
    event: str = "",
) -> MatchList:
    """The newest finished matches, at most `limit`: those before a place, of a bot, of a game, or of an event alone."""
    async with reading(engine) as connection:
        if event:
            rows: Sequence[Any] = await _rows_of_event(connection, limit + 1, before, event)
        else:
            rows = await _rows(connection, limit + 1, before, bot, game)
    found = [shown(row) for row in rows[:limit]]
    last = f"{found[-1].finished}|{found[-1].match}" if len(rows) > limit and found else None
    return MatchList(found, last)


async def latest_of(connection: AsyncConnection, bot: str, limit: int) -> list[Shown]:
    """The newest finished matches of a bot, at most `limit`."""
    return [shown(row) for row in await _rows(connection, limit, None, bot, "")]


async def _rows(
    connection: AsyncConnection, limit: int, before: Place | None, bot: str, game: str
) -> Sequence[Any]:
    """The rows, newest first. Of a bot, each seat in each game is a list of its own in its index, and they are merged."""
    games = [game] if game else await games_in(connection, matches.c.game, FINISHED) if bot else []
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


async def _rows_of_event(
    connection: AsyncConnection, limit: int, before: Place | None, event: str
) -> Sequence[Any]:
    given: dict[str, Any] = {"most": limit, "event": event}
    if before is not None:
        given |= {"finished_before": before[0], "before": before[1]}
    found: Sequence[Any] = (await connection.execute(_of_event(before=before is not None), given)).all()
    return found


@lru_cache(maxsize=2)
def _of_event(*, before: bool) -> sa.Select[Any]:
    return newest(
        [matches.c.event == sa.bindparam("event", type_=matches.c.event.type)], _MOST, before=before
    )


@lru_cache(maxsize=32)
def _statement(games: int, *, of_bot: bool, before: bool) -> sa.Select[Any]:
    """The query for a list, which is made once: to make one takes SQLAlchemy longer than the database takes for it."""
    names = [
        matches.c.game == sa.bindparam(f"game{number}", type_=matches.c.game.type) for number in range(games)
    ]
    if not of_bot:
        return newest(names, _MOST, before=before)
    bot = sa.bindparam("bot", type_=matches.c.maxie.type)
    seats = matches.c.maxie == bot, matches.c.minnie == bot
    found = [
        newest([seat, name], _MOST, before=before, columns=(matches.c.finished, matches.c.number))
        for name in names
        for seat in seats
    ]
    # The indices hold all of a place, so that only those are read that are told; whoever plays itself is found twice.
    places = sa.union(*(sa.select(each.subquery()) for each in found)).subquery()
    order = places.c.finished.desc(), places.c.number.desc()
    chosen = sa.select(places.c.number).order_by(*order).limit(_MOST).subquery()
    listed = sa.select(*LISTED).join(chosen, chosen.c.number == matches.c.number)
    return listed.order_by(*NEWEST_FIRST)


FINISHED = matches.c.finished.is_not(None)
"""The condition of the indices of finished matches; one object, as queries are kept by it."""
LISTED = [
    matches.c[name] for name in ("number", "match", "event", "game", "maxie", "minnie", "finished", *SHOWN)
]
"""What is read of a match for a list."""
PLACE = sa.tuple_(matches.c.finished, matches.c.number)
NEWEST_FIRST = (matches.c.finished.desc(), matches.c.number.desc())
_MOST = sa.bindparam("most", type_=sa.Integer)


def together(lists: Sequence[sa.Select[Any]], most: sa.BindParameter[int]) -> sa.Select[Any]:
    """The query for the newest of what several find that have `finished` and `number`, at most `most`."""
    merged = sa.union_all(*(sa.select(each.subquery()) for each in lists)).subquery()
    return sa.select(merged).order_by(merged.c.finished.desc(), merged.c.number.desc()).limit(most)


def newest(
    conditions: Sequence[sa.ColumnElement[bool]],
    most: sa.BindParameter[int],
    *,
    before: bool,
    columns: Sequence[sa.Column[Any]] = LISTED,
) -> sa.Select[Any]:
    """The query for the newest matches that fulfil the conditions, at most `most`, in the order of their index.

    With `before` its parameters are `finished_before` and `before` too, the place after which matches are left out.
    """
    query = sa.select(*columns).where(*conditions, FINISHED)
    if before:
        query = query.where(is_before())
    return query.order_by(*NEWEST_FIRST).limit(most)


def is_before() -> sa.ColumnElement[bool]:
    """Whether a match comes after a place in a list of the newest first; parameters are `finished_before` and `before`."""
    known = matches.alias("known")
    last = sa.bindparam("before", type_=matches.c.match.type)
    number = sa.select(known.c.number).where(known.c.match == last).scalar_subquery()
    # A match that has been removed meanwhile leaves its time, and all that finished then are passed over.
    finished = sa.bindparam("finished_before", type_=matches.c.finished.type)
    return sa.tuple_(finished, sa.func.coalesce(number, 0)) > PLACE


async def games_in(connection: AsyncConnection, column: sa.Column[Any], *where: Any) -> list[str]:
    """The games in a column, of the rows that fulfil `where`, each found by one look into the column's index."""
    return list((await connection.execute(_games_in(column, where))).scalars())


@lru_cache(maxsize=8)  # the query for each column and each condition, both of which stand in the code
def _games_in(column: sa.Column[Any], where: tuple[Any, ...]) -> sa.Select[Any]:
    games = sa.select(sa.func.min(column).label("game")).where(*where).cte("games", recursive=True)
    following = sa.select(sa.func.min(column)).where(*where, column > games.c.game).scalar_subquery()
    games = games.union_all(sa.select(following).where(games.c.game.is_not(None)))
    return sa.select(games.c.game).where(games.c.game.is_not(None)).order_by(games.c.game)


def shown(row: sa.Row[Any]) -> Shown:
    """What a list shows of a row of its query."""
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
