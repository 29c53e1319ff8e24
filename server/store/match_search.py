"""Search of finished matches by players, map, game, event, opening and result, the newest first.

A database index covers one or two of the search terms, and matches are examined in the order of this index. The other
terms are tested on each match. So that a search is as fast in a store of a million matches, it examines at most
MAX_EXAMINED of them, and returns the position at which the next search continues. Before it reads any match, it finds
the last match to examine in the index.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.rating.standings import COLUMN_NAMES
from arena.server.store.database import Engine, open_query_connection
from arena.server.store.finished_matches import (
    IS_FINISHED,
    RESULT_COLUMNS,
    MatchList,
    PageCursor,
    list_distinct_games,
    make_summary_from_row,
)
from arena.server.store.schema import crosses, matches

_SUMMARY_COLUMNS = [
    matches.c[name]
    for name in ("number", "match", "event", "game", "maxie", "minnie", "finished", *RESULT_COLUMNS)
]
_PAGE_KEY = sa.tuple_(matches.c.finished, matches.c.number)
_NEWEST_FIRST = (matches.c.finished.desc(), matches.c.number.desc())

MAX_EXAMINED = 250
"""Maximum number of matches that one search examines by default, whether or not they fit the filter."""
WON, LOST, DRAWN = "won", "lost", "drawn"
"""Values of `SearchFilter.result`: matches that `SearchFilter.bot` won or lost, and drawn matches."""


class SearchFilter(Struct, frozen=True):
    """Terms that a match must meet to be found. An empty term is met by every match."""

    bot: str = ""
    """Name of a bot that played the match, in either seat."""
    opponent: str = ""
    """Name of the opponent of `bot`."""
    map: str = ""
    game: str = ""
    event: str = ""
    opening: str = ""
    """Key of the opening, as returned by `finished_matches.make_opening_key`."""
    result: str = ""
    """`maxie` or `minnie` for the seat of the winner; `drawn`; `won` or `lost` by the bot `bot`, which must be given;
    or a value of `protocol.codes.EndReason`.
    """


class HeadToHeadScore(Struct, frozen=True, rename=COLUMN_NAMES):
    """Score of a bot against another in rated matches of a game."""

    game: str
    wins: int
    draws: int
    losses: int


async def search_matches(
    engine: Engine,
    filter: SearchFilter,
    limit: int,
    before: PageCursor | None = None,
    max_examined: int = MAX_EXAMINED,
) -> MatchList:
    """Return up to `limit` matches that fit `filter`, the newest first.

    before: end time and id of a match; only older matches are searched; None to begin with the newest match
    max_examined: maximum number of matches to examine

    Because of this maximum, the returned list may have fewer than `limit` matches, or none, although older matches fit.
    Its `next` is the position at which another call continues the search; None if all matches have been searched.
    """
    async with open_query_connection(engine) as connection:
        games = await _find_indexed_games(connection, filter)
        if games is None:
            return MatchList([], None)
        statements = _build_statements(_find_shape(filter), len(games), before=before is not None)
        parameters: dict[str, Any] = {
            name: value for name, value in _select_column_terms(filter).items() if value
        }
        parameters |= {f"game{number}": game for number, game in enumerate(games)}
        if before is not None:
            parameters |= {"finished_before": before[0], "before": before[1]}
        boundary = None
        if statements.boundary is not None:
            skipped_count = max(max_examined // statements.list_count, 1) - 1
            boundary = (
                await connection.execute(statements.boundary, parameters | {"passed": skipped_count})
            ).one_or_none()
        parameters |= {"most": limit + 1}
        matches_query = statements.everything
        if boundary is not None:
            matches_query = statements.up_to_boundary
            parameters |= {"boundary_finished": boundary.finished, "boundary_number": boundary.number}
        rows = (await connection.execute(matches_query, parameters)).all()
    page = [make_summary_from_row(row) for row in rows[:limit]]
    if len(rows) > limit:
        return MatchList(page, _make_page_cursor(rows[limit - 1]))
    return MatchList(page, None if boundary is None else _make_page_cursor(boundary))


async def find_opening_key(engine: Engine, match: str) -> str | None:
    """Return the key of a finished match's opening.

    Return None if no match has the id `match`, or if the match ended during its opening or is in progress.
    """
    query = sa.select(matches.c.opening).where(matches.c.match == match)
    async with open_query_connection(engine) as connection:
        return (await connection.execute(query)).scalar_one_or_none()


async def load_head_to_head_scores(engine: Engine, bot: str, opponent: str) -> list[HeadToHeadScore]:
    """Return the score of a bot against another in each game of their rated matches, for all seasons together."""
    table = crosses.c
    async with open_query_connection(engine) as connection:
        games = await list_distinct_games(connection, table.game)
        counts = (sa.func.sum(column) for column in (table.wins, table.draws, table.losses))
        query = sa.select(table.game, *counts).group_by(table.game).order_by(table.game)
        query = query.where(table.game.in_(games), table.bot == bot, table.opponent == opponent)
        query = query.where(table.time_control == "")
        rows = (await connection.execute(query)).all()
        return [HeadToHeadScore(row.game, *map(int, row[1:])) for row in rows]


def _make_page_cursor(row: Any) -> str:
    return f"{row.finished}|{row.match}"


async def _find_indexed_games(connection: AsyncConnection, filter: SearchFilter) -> list[str] | None:
    """Return the games to look up in the index by bot and game: `filter.game`, or all games if it is empty.

    Return an empty list if the search uses another index, and None if the store has no finished match.
    """
    if not filter.bot or filter.opponent or filter.opening or filter.event:
        return []
    if filter.game:
        return [filter.game]
    return await list_distinct_games(connection, matches.c.game, IS_FINISHED) or None


def _select_column_terms(filter: SearchFilter) -> dict[str, str]:
    fields = {name: getattr(filter, name) for name in filter.__struct_fields__}
    if filter.result in (WON, LOST, DRAWN, "maxie", "minnie"):
        del fields["result"]
    return fields


SearchShape = tuple[tuple[str, ...], str]
"""Shape of a search: the names of the terms that are given, and the value of `result` if it is not an end reason.

Otherwise the second value is empty. Searches of the same shape use the same SQL statements, with other parameters.
"""


def _find_shape(filter: SearchFilter) -> SearchShape:
    names = tuple(name for name in filter.__struct_fields__ if getattr(filter, name))
    return names, "" if "result" in _select_column_terms(filter) else filter.result


Conditions = tuple[sa.ColumnElement[bool], ...]


class _SearchStatements(Struct, frozen=True):
    """SQL statements for all searches with the same kinds of terms (a `SearchShape`)."""

    list_count: int
    """Number of lists of matches that a search merges. Each list is a range of an index, as for a bot in one seat."""
    boundary: sa.Select[Any] | None
    """Query for the last match to examine, the *boundary*; None if the index covers all terms of the search.

    The query's parameter `passed` is the number of matches to examine before the boundary, in each list.
    """
    up_to_boundary: sa.Select[Any]
    """Query for the matches that fit and are not older than the boundary."""
    everything: sa.Select[Any]
    """Query for the matches that fit, without a boundary."""


@lru_cache(maxsize=256)
def _build_statements(shape: SearchShape, games: int, *, before: bool) -> _SearchStatements:
    """Return the statements for searches with these kinds of terms. They are cached, because building takes longer than running them.

    games: number of games to search in the index by bot and game; 0 if another index is used
    before: True if the search begins after a given position, not at the newest match
    """
    names, result = shape
    parameter = {name: sa.bindparam(name, type_=sa.String) for name in names}
    # The terms that the index does not cover are tested on each match.
    conditions = [
        _build_term_condition(name, parameter)
        for name in names
        if name not in ("result", *_choose_index_terms(names))
    ]
    if "result" in names:
        conditions.append(_build_result_condition(result, parameter))
    condition_lists = [
        (*list_conditions, _build_before_condition()) if before else list_conditions
        for list_conditions in _build_list_conditions(names, games)
    ]
    finished = sa.bindparam("boundary_finished", type_=matches.c.finished.type)
    # The condition on (time, number) is sufficient. The added condition on the time alone lets PostgreSQL estimate that
    # few rows fit, so that it uses the index.
    boundary_conditions = [
        sa.tuple_(finished, sa.bindparam("boundary_number", type_=matches.c.number.type)) <= _PAGE_KEY,
        matches.c.finished >= finished,
    ]
    if before:
        boundary_conditions.append(
            matches.c.finished <= sa.bindparam("finished_before", type_=matches.c.finished.type)
        )
    return _SearchStatements(
        len(condition_lists),
        _build_last_examined_match_query(condition_lists) if conditions else None,
        _build_newest_matches_query(
            [(*list_conditions, *conditions, *boundary_conditions) for list_conditions in condition_lists]
        ),
        _build_newest_matches_query([(*list_conditions, *conditions) for list_conditions in condition_lists]),
    )


def _build_newest_matches_query(condition_lists: Sequence[Conditions]) -> sa.Select[Any]:
    """Return the query for the newest matches of several lists together. Its parameter `most` limits their number.

    condition_lists: SQL conditions of each list

    The indices contain the end times and numbers of matches, by which the lists are merged, so only the returned rows
    are read in full. A match of a bot against itself is in two lists, and is returned once.
    """
    limit = sa.bindparam("most", type_=sa.Integer)
    if len(condition_lists) == 1:
        return (
            sa.select(*_SUMMARY_COLUMNS)
            .where(*condition_lists[0], IS_FINISHED)
            .order_by(*_NEWEST_FIRST)
            .limit(limit)
        )
    list_queries = (
        sa.select(matches.c.finished, matches.c.number)
        .where(*list_conditions, IS_FINISHED)
        .order_by(*_NEWEST_FIRST)
        .limit(limit)
        for list_conditions in condition_lists
    )
    newest = sa.union(*(sa.select(list_query.subquery()) for list_query in list_queries)).subquery()
    order = newest.c.finished.desc(), newest.c.number.desc()
    numbers = sa.select(newest.c.number).order_by(*order).limit(limit).subquery()
    query = sa.select(*_SUMMARY_COLUMNS).join(numbers, numbers.c.number == matches.c.number)
    return query.order_by(*_NEWEST_FIRST)


def _build_before_condition() -> sa.ColumnElement[bool]:
    """Return the SQL condition that a match comes after a given match in a list, newest first.

    The parameters `finished_before` and `before` are the end time and the id of the given match.
    """
    known_match = matches.alias("known")
    known_id = sa.bindparam("before", type_=matches.c.match.type)
    number = sa.select(known_match.c.number).where(known_match.c.match == known_id).scalar_subquery()
    # If the given match was removed meanwhile, its time is still known, and all matches of this time are skipped.
    finished = sa.bindparam("finished_before", type_=matches.c.finished.type)
    return sa.tuple_(finished, sa.func.coalesce(number, 0)) > _PAGE_KEY


def _build_last_examined_match_query(condition_lists: Sequence[Conditions]) -> sa.Select[Any]:
    """Return the query for the last match that a search examines, the *boundary*.

    condition_lists: SQL conditions of each list

    In each list, the query finds the match after the first N, where N is the query's parameter `passed`. If there are
    several lists, the newest of the matches found is the last one to examine.
    """
    skipped_count = sa.bindparam("passed", type_=sa.Integer)
    last_in_list_query = (
        sa.select(matches.c.finished, matches.c.number)
        .order_by(*_NEWEST_FIRST)
        .limit(1)
        .offset(skipped_count)
    )
    boundaries = sa.union_all(
        *(
            sa.select(last_in_list_query.where(*list_conditions, IS_FINISHED).subquery())
            for list_conditions in condition_lists
        )
    ).subquery()
    newest = (
        sa.select(boundaries.c.number)
        .order_by(boundaries.c.finished.desc(), boundaries.c.number.desc())
        .limit(1)
    )
    columns = matches.c.match, matches.c.finished, matches.c.number
    return sa.select(*columns).where(matches.c.number == newest.scalar_subquery())


def _choose_index_terms(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of those search terms, among `names`, that the best index for the search covers."""
    if "opening" in names:
        return ("opening",)
    if "bot" in names and "opponent" in names:
        return ("bot", "opponent")
    if "event" in names:
        return ("event",)
    if "bot" in names:
        return ("bot", "game")
    return next(((name,) for name in ("map", "game") if name in names), ())


def _build_list_conditions(names: tuple[str, ...], games: int) -> list[Conditions]:
    """Return the SQL conditions of each list of matches that one search examines: one list, or several to be merged.

    names: names of the search's terms
    games: number of games to search in the index by bot and game; 0 if another index is used
    """
    column = matches.c
    index_terms = _choose_index_terms(names)

    def bind_parameter(name: str, column: sa.Column[Any]) -> sa.BindParameter[Any]:
        return sa.bindparam(name, type_=column.type)

    if index_terms == ("bot", "opponent"):
        bot, opponent = bind_parameter("bot", column.maxie), bind_parameter("opponent", column.maxie)
        return [
            (column.maxie == bot, column.minnie == opponent),
            (column.maxie == opponent, column.minnie == bot),
        ]
    if index_terms == ("bot", "game"):
        bot = bind_parameter("bot", column.maxie)
        conditions = [column.game == bind_parameter(f"game{number}", column.game) for number in range(games)]
        return [(seat == bot, game) for game in conditions for seat in (column.maxie, column.minnie)]
    return [tuple(column[name] == bind_parameter(name, column[name]) for name in index_terms)]


def _build_term_condition(name: str, parameter: dict[str, Any]) -> sa.ColumnElement[bool]:
    if name in ("bot", "opponent"):
        return sa.or_(matches.c.maxie == parameter[name], matches.c.minnie == parameter[name])
    condition: sa.ColumnElement[bool] = matches.c[name] == parameter[name]
    return condition


def _build_result_condition(result: str, parameter: dict[str, Any]) -> sa.ColumnElement[bool]:
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
    bot_seat, opponent_seat = ("maxie", "minnie") if result == WON else ("minnie", "maxie")
    return sa.or_(
        sa.and_(column.maxie == bot, column.winner == bot_seat),
        sa.and_(column.minnie == bot, column.winner == opponent_seat),
    )
