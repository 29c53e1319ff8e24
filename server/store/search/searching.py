"""Finished matches by what somebody remembers of them: players, map, game, event, opening, result; the newest first.

One of what is asked for has an index, in whose order matches are looked through; the rest is held against each of them.
At most 2,000 are looked through for one answer, which says where to go on: so it takes as long in a store of a million.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from rating.words import WORDS
from server.store.database import reading
from server.store.finished import FINISHED, MatchList, Place, games_in, newest, shown
from server.store.schema import crosses, matches

LOOKED_THROUGH = 2_000
"""Matches that one answer looks through at the most."""
WON, LOST, DRAWN = "won", "lost", "drawn"
"""Results as a bot sees them; without a bot `maxie` and `minnie` won, or nobody did."""


class Wanted(Struct, frozen=True):
    """What is looked for; empty for anything."""

    bot: str = ""
    opponent: str = ""
    """Of `bot`."""
    map: str = ""
    game: str = ""
    event: str = ""
    opening: str = ""
    """As `openings.opening_key` writes it."""
    result: str = ""
    """`won`, `lost` or `drawn` of `bot`, `maxie` or `minnie` without one, or a reason as in `protocol.codes.EndReason`."""


class Score(Struct, frozen=True, rename=WORDS):
    """What a bot has scored against another in the rated matches of a game."""

    game: str
    wins: int
    draws: int
    losses: int


async def search(
    engine: AsyncEngine,
    wanted: Wanted,
    limit: int,
    before: Place | None = None,
    looked_through: int = LOOKED_THROUGH,
) -> MatchList:
    """The newest matches that fit, at most `limit`, of those before a place. `next` is where to go on looking.

    There may be fewer than `limit` though there is a `next`: none of the others that were looked through fits.
    """
    async with reading(engine) as connection:
        games = await _games(connection, wanted)
        if games is None:
            return MatchList([], None)
        found, edge = _statements(_shape(wanted), len(games), before=before is not None)
        window = limit + 1 if edge is None else looked_through
        given: dict[str, Any] = {name: value for name, value in _given(wanted).items() if value}
        given |= {f"game{number}": game for number, game in enumerate(games)}
        if before is not None:
            given |= {"finished_before": before[0], "before": before[1]}
        rows: Sequence[Any] = (
            await connection.execute(found, given | {"most": limit + 1, "window": window})
        ).all()
        if len(rows) > limit:
            return MatchList([shown(row) for row in rows[:limit]], _place(rows[limit - 1]))
        if edge is None:
            return MatchList([shown(row) for row in rows], None)
        last = (await connection.execute(edge, given | {"window": window, "edge": window - 1})).one_or_none()
    return MatchList([shown(row) for row in rows], None if last is None else _place(last))


async def opening_of(engine: AsyncEngine, match: str) -> str | None:
    """The key of a finished match's opening; None where it has none, or there is no such match."""
    query = sa.select(matches.c.opening).where(matches.c.match == match)
    async with reading(engine) as connection:
        return (await connection.execute(query)).scalar_one_or_none()


async def scores(engine: AsyncEngine, bot: str, opponent: str) -> list[Score]:
    """What a bot has scored against another, by game."""
    table = crosses.c
    async with reading(engine) as connection:
        games = await games_in(connection, table.game)
        query = sa.select(table.game, table.wins, table.draws, table.losses)
        query = query.where(table.game.in_(games), table.bot == bot, table.opponent == opponent)
        return [Score(*row) for row in (await connection.execute(query.order_by(table.game))).all()]


def _place(row: Any) -> str:
    return f"{row.finished}|{row.match}"


async def _games(connection: AsyncConnection, wanted: Wanted) -> list[str] | None:
    """The games in whose lists a bot's matches are; none are needed where another index is used. None: nothing can be found."""
    if not wanted.bot or wanted.opponent or wanted.opening or wanted.event:
        return []
    if wanted.game:
        return [wanted.game]
    return await games_in(connection, matches.c.game, FINISHED) or None


def _given(wanted: Wanted) -> dict[str, str]:
    given = {name: getattr(wanted, name) for name in wanted.__struct_fields__}
    if wanted.result in (WON, LOST, DRAWN, "maxie", "minnie"):
        del given["result"]
    return given


Shape = tuple[tuple[str, ...], str]
"""What is given, and which result is asked for; empty for a reason or none."""


def _shape(wanted: Wanted) -> Shape:
    names = tuple(name for name in wanted.__struct_fields__ if getattr(wanted, name))
    return names, "" if "result" in _given(wanted) else wanted.result


@lru_cache(maxsize=256)
def _statements(shape: Shape, games: int, *, before: bool) -> tuple[sa.Select[Any], sa.Select[Any] | None]:
    """The query for the matches that fit, and the one for the last of a full window; None where each in the index fits."""
    names, result = shape
    parameter = {name: sa.bindparam(name, type_=sa.String) for name in names}
    # What is left to be held against each match; an index alone looks through none in vain.
    left = [name for name in names if name not in ("result", *_indexed(names))]
    filtered = bool(left or "result" in names)
    window = sa.bindparam("window", type_=sa.Integer)
    most = sa.bindparam("most", type_=sa.Integer)
    lists = [newest(each, window, before=before) for each in _lists(names, games)]
    merged = sa.union_all(*(sa.select(each.subquery()) for each in lists)).subquery()
    order = merged.c.finished.desc(), merged.c.number.desc()
    looked = sa.select(merged).order_by(*order).limit(window).subquery()
    order = looked.c.finished.desc(), looked.c.number.desc()
    conditions = [_condition(looked, name, parameter) for name in left]
    if "result" in names:
        conditions.append(_result(looked, result, parameter))
    found = sa.select(looked).where(*conditions).order_by(*order).limit(most)
    edge = sa.select(looked.c.finished, looked.c.match).order_by(*order).limit(1)
    return found, edge.offset(sa.bindparam("edge", type_=sa.Integer)) if filtered else None


def _indexed(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names that are found by an index."""
    if "opening" in names:
        return ("opening",)
    if "bot" in names and "opponent" in names:
        return ("bot", "opponent")
    if "event" in names:
        return ("event",)
    if "bot" in names:
        return ("bot", "game")
    return next(((name,) for name in ("map", "game") if name in names), ())


def _lists(names: tuple[str, ...], games: int) -> list[list[sa.ColumnElement[bool]]]:
    """The conditions of the lists that are looked through together, each in the order of an index."""
    column = matches.c
    by = _indexed(names)

    def bind(name: str, like: sa.Column[Any]) -> sa.BindParameter[Any]:
        return sa.bindparam(name, type_=like.type)

    if by == ("bot", "opponent"):
        bot, opponent = bind("bot", column.maxie), bind("opponent", column.maxie)
        return [
            [column.maxie == bot, column.minnie == opponent],
            [column.maxie == opponent, column.minnie == bot, column.maxie != column.minnie],
        ]
    if by == ("bot", "game"):
        bot = bind("bot", column.maxie)
        seats = [[column.maxie == bot], [column.minnie == bot, column.maxie != bot]]
        named = [column.game == bind(f"game{number}", column.game) for number in range(games)]
        return [[*seat, game] for game in named for seat in seats]
    return [[column[name] == bind(name, column[name]) for name in by]]


def _condition(looked: Any, name: str, parameter: dict[str, Any]) -> sa.ColumnElement[bool]:
    if name in ("bot", "opponent"):
        return sa.or_(looked.c.maxie == parameter[name], looked.c.minnie == parameter[name])
    condition: sa.ColumnElement[bool] = looked.c[name] == parameter[name]
    return condition


def _result(looked: Any, result: str, parameter: dict[str, Any]) -> sa.ColumnElement[bool]:
    if not result:
        condition: sa.ColumnElement[bool] = looked.c.reason == parameter["result"]
        return condition
    if result == DRAWN:
        return sa.and_(looked.c.winner.is_(None), looked.c.reason != "server_fault")
    if result in ("maxie", "minnie"):
        winner: sa.ColumnElement[bool] = looked.c.winner == result
        return winner
    bot = parameter["bot"]
    mine, other = ("maxie", "minnie") if result == WON else ("minnie", "maxie")
    return sa.or_(
        sa.and_(looked.c.maxie == bot, looked.c.winner == mine),
        sa.and_(looked.c.minnie == bot, looked.c.winner == other),
    )
