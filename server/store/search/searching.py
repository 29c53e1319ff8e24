"""Finished matches by what somebody remembers of them: players, map, game, event, opening, result; the newest first.

One of what is asked for has an index, in whose order matches are looked through; the rest is held against each of them.
At most 250 are looked through for one answer, which says where to go on: so it takes as long in a store of a million.
How far that is is found first, in the indices alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.rating.words import WORDS
from arena.server.store.database import reading
from arena.server.store.finished import (
    FINISHED,
    LISTED,
    NEWEST_FIRST,
    PLACE,
    MatchList,
    Place,
    games_in,
    is_before,
    shown,
    together,
)
from arena.server.store.schema import crosses, matches

LOOKED_THROUGH = 250
"""Matches that one answer looks through at the most."""
WON, LOST, DRAWN = "won", "lost", "drawn"
"""Results as a bot sees them; for everybody `maxie` or `minnie` won, or nobody did."""


class Wanted(Struct, frozen=True):
    """What is looked for; empty for anything."""

    bot: str = ""
    opponent: str = ""
    """Whom `bot` played against."""
    map: str = ""
    game: str = ""
    event: str = ""
    opening: str = ""
    """How the match begins, as `openings.opening_key` writes it."""
    result: str = ""
    """`maxie`, `minnie` or `drawn`, `won` or `lost` by `bot`, or a reason as in `protocol.codes.EndReason`."""


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
        statements = _statements(_shape(wanted), len(games), before=before is not None)
        given: dict[str, Any] = {name: value for name, value in _given(wanted).items() if value}
        given |= {f"game{number}": game for number, game in enumerate(games)}
        if before is not None:
            given |= {"finished_before": before[0], "before": before[1]}
        edge = None
        if statements.edge is not None:
            passed = max(looked_through // statements.lists, 1) - 1
            edge = (await connection.execute(statements.edge, given | {"passed": passed})).one_or_none()
        given |= {"most": limit + 1}
        rows: Sequence[Any]
        if edge is None:
            rows = (await connection.execute(statements.everything, given)).all()
        else:
            given |= {"edge_finished": edge.finished, "edge_number": edge.number}
            rows = (await connection.execute(statements.as_far_as_the_edge, given)).all()
    shown_rows = [shown(row) for row in rows[:limit]]
    if len(rows) > limit:
        return MatchList(shown_rows, _place(rows[limit - 1]))
    return MatchList(shown_rows, None if edge is None else _place(edge))


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


class _List(Struct, frozen=True):
    """Matches in the order of an index."""

    index: tuple[sa.ColumnElement[bool], ...]
    """Conditions that choose the list."""
    once: tuple[sa.ColumnElement[bool], ...] = ()
    """Conditions that leave out what stands in another list, too."""


class _Statements(Struct, frozen=True):
    """What is executed for a search of one shape."""

    lists: int
    """How many lists are looked through together."""
    edge: sa.Select[Any] | None
    """For the last match that one answer looks through, of more than `passed` in a list; None where each that is in the lists fits."""
    as_far_as_the_edge: sa.Select[Any]
    everything: sa.Select[Any]


@lru_cache(maxsize=256)
def _statements(shape: Shape, games: int, *, before: bool) -> _Statements:
    names, result = shape
    parameter = {name: sa.bindparam(name, type_=sa.String) for name in names}
    # What is left to be held against each match.
    left = [_condition(name, parameter) for name in names if name not in ("result", *_indexed(names))]
    if "result" in names:
        left.append(_result(result, parameter))
    if before:
        lists = [replace(each, index=(*each.index, is_before())) for each in _lists(names, games)]
    else:
        lists = _lists(names, games)
    most = sa.bindparam("most", type_=sa.Integer)
    finished = sa.bindparam("edge_finished", type_=matches.c.finished.type)
    # The order of pairs says all; PostgreSQL estimates only from the times how few matches are left, and uses the index.
    until = [
        sa.tuple_(finished, sa.bindparam("edge_number", type_=matches.c.number.type)) <= PLACE,
        matches.c.finished >= finished,
    ]
    if before:
        until.append(matches.c.finished <= sa.bindparam("finished_before", type_=matches.c.finished.type))
    found = [sa.select(*LISTED).where(*each.index, FINISHED, *each.once, *left) for each in lists]
    return _Statements(
        len(lists),
        _edge(lists) if left else None,
        together([_newest(each.where(*until), most) for each in found], most),
        together([_newest(each, most) for each in found], most),
    )


def _edge(lists: Sequence[_List]) -> sa.Select[Any]:
    """The query for the newest of the matches that come in their lists after `passed` others."""
    passed = sa.bindparam("passed", type_=sa.Integer)
    one = sa.select(matches.c.finished, matches.c.number).order_by(*NEWEST_FIRST).limit(1).offset(passed)
    edges = sa.union_all(
        *(sa.select(one.where(*each.index, FINISHED).subquery()) for each in lists)
    ).subquery()
    newest = sa.select(edges.c.number).order_by(edges.c.finished.desc(), edges.c.number.desc()).limit(1)
    columns = matches.c.match, matches.c.finished, matches.c.number
    return sa.select(*columns).where(matches.c.number == newest.scalar_subquery())


def _newest(query: sa.Select[Any], most: sa.BindParameter[int]) -> sa.Select[Any]:
    return query.order_by(*NEWEST_FIRST).limit(most)


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


def _lists(names: tuple[str, ...], games: int) -> list[_List]:
    """The lists that are looked through together."""
    column = matches.c
    by = _indexed(names)

    def bind(name: str, like: sa.Column[Any]) -> sa.BindParameter[Any]:
        return sa.bindparam(name, type_=like.type)

    if by == ("bot", "opponent"):
        bot, opponent = bind("bot", column.maxie), bind("opponent", column.maxie)
        return [
            _List((column.maxie == bot, column.minnie == opponent)),
            _List((column.maxie == opponent, column.minnie == bot), (column.maxie != column.minnie,)),
        ]
    if by == ("bot", "game"):
        bot = bind("bot", column.maxie)
        named = [column.game == bind(f"game{number}", column.game) for number in range(games)]
        return [
            each
            for game in named
            for each in (
                _List((column.maxie == bot, game)),
                _List((column.minnie == bot, game), (column.maxie != column.minnie,)),
            )
        ]
    return [_List(tuple(column[name] == bind(name, column[name]) for name in by))]


def _condition(name: str, parameter: dict[str, Any]) -> sa.ColumnElement[bool]:
    if name in ("bot", "opponent"):
        return sa.or_(matches.c.maxie == parameter[name], matches.c.minnie == parameter[name])
    condition: sa.ColumnElement[bool] = matches.c[name] == parameter[name]
    return condition


def _result(result: str, parameter: dict[str, Any]) -> sa.ColumnElement[bool]:
    column = matches.c
    if not result:
        condition: sa.ColumnElement[bool] = column.reason == parameter["result"]
        return condition
    if result == DRAWN:
        return sa.and_(column.winner.is_(None), column.reason != "server_fault")
    if result in ("maxie", "minnie"):
        winner: sa.ColumnElement[bool] = column.winner == result
        return winner
    bot = parameter["bot"]
    mine, other = ("maxie", "minnie") if result == WON else ("minnie", "maxie")
    return sa.or_(
        sa.and_(column.maxie == bot, column.winner == mine),
        sa.and_(column.minnie == bot, column.winner == other),
    )
