"""Search of finished matches by players, map, game, event, opening and result, the newest first.

A database index covers one or two of the search terms, and matches are read in the order of this index. The remaining search
terms are tested on each match. A search reads at most MAX_MATCHES_EXAMINED_PER_SEARCH matches in full, so its time does not
grow with the store, and returns the position at which the next search continues.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import asdict

from arena.protocol.codes import EndReason
from arena.rating.standings import COLUMN_NAME_BY_FIELD
from arena.server.store.database import Engine, fetch, open_query_connection
from arena.server.store.finished_matches import (
    IS_FINISHED_MATCH,
    SELECT_MATCH_SUMMARIES,
    MatchList,
    MatchSummary,
    PageCursor,
    list_distinct_games,
    make_match_summary_from_row,
)
from arena.server.store.schema import crosses, matches

_PAGE_CURSOR_COLUMNS = sa.tuple_(matches.c.finished, matches.c.number)
_ORDER_NEWEST_FIRST = (matches.c.finished.desc(), matches.c.number.desc())

MAX_MATCHES_EXAMINED_PER_SEARCH = 250
"""Maximum number of matches that one search examines, whether or not they meet the search terms."""
WON, LOST, DRAWN = "won", "lost", "drawn"
"""Values of `SearchFilter.result`, to find the matches that `SearchFilter.bot` won or lost, or drawn matches."""


class SearchFilter(Struct, frozen=True):
    """Terms that a match must meet to be found. An empty term is met by every match."""

    bot: str = ""
    """Name of a bot that played the match, in either seat; empty for any bot."""
    opponent: str = ""
    """Name of the opponent of `bot`; empty for any opponent."""
    map: str = ""
    game: str = ""
    event: str = ""
    opening: str = ""
    """Key of the opening, as returned by `finished_matches.make_opening_key`; empty for any opening."""
    result: str = ""
    """Result of the match: the winner's seat (`maxie` or `minnie`), `drawn`, or the end reason (a value of
    `protocol.codes.EndReason`). If `bot` is given, also `won` or `lost`, from the view of this bot.
    """


class HeadToHeadScore(Struct, frozen=True, rename=COLUMN_NAME_BY_FIELD):
    """Score of a bot against another bot, in all their rated matches of one game."""

    game: str
    wins: int
    draws: int
    losses: int


async def search_matches(
    engine: Engine,
    filter: SearchFilter,
    limit: int,
    cursor: PageCursor | None = None,
) -> MatchList:
    """Return up to `limit` matches that fit `filter`, the newest first.

    cursor: end time and id of a match; only older matches are searched; None to begin with the newest match

    At most MAX_MATCHES_EXAMINED_PER_SEARCH matches are examined. Because of this maximum, the returned list may have fewer than
    `limit` matches, or none, although older matches fit. The list's `next` is the position at which another call continues the
    search; None if all matches have been searched.
    """
    terms = tuple(name for name in filter.__struct_fields__ if getattr(filter, name))
    index_terms = _choose_terms_covered_by_index(terms)
    max_read = limit + 1 if set(terms) <= set(index_terms) else MAX_MATCHES_EXAMINED_PER_SEARCH
    parameters: dict[str, Any] = asdict(filter) | {"max_read": max_read}
    if cursor is not None:
        parameters |= {"finished_before": cursor[0], "before": cursor[1]}
    async with open_query_connection(engine) as connection:
        games: list[str] = []
        if index_terms == ("bot", "game"):
            games = [filter.game]
            if not filter.game:
                games = await list_distinct_games(connection, matches.c.game, IS_FINISHED_MATCH)
            if not games:
                return MatchList([], None)
        parameters |= {f"game{number}": game for number, game in enumerate(games)}
        query = _build_search_query(index_terms, len(games), has_cursor=cursor is not None)
        rows = (await connection.execute(query, parameters)).all()
    read = [make_match_summary_from_row(row) for row in rows]
    found = [match for match in read if _is_accepted_by_filter(match, filter)]
    if len(found) > limit:
        return MatchList(found[:limit], _make_page_cursor(found[limit - 1]))
    return MatchList(found, _make_page_cursor(read[-1]) if len(read) == max_read else None)


async def find_opening_key(engine: Engine, match_id: str) -> str | None:
    """Return the key by which matches with the same opening as a finished match are found.

    Return None if no match has the id `match_id`, or if the match ended during its opening or is in progress.
    """
    query = sa.select(matches.c.opening).where(matches.c.match == match_id)
    return (await fetch(engine, query)).scalar_one_or_none()


async def load_head_to_head_scores(engine: Engine, bot_name: str, opponent: str) -> list[HeadToHeadScore]:
    """Return the score of a bot against another in each game of their rated matches, for all seasons together."""
    table = crosses.c
    async with open_query_connection(engine) as connection:
        games = await list_distinct_games(connection, table.game)
        counts = (sa.func.sum(column) for column in (table.wins, table.draws, table.losses))
        query = sa.select(table.game, *counts).group_by(table.game).order_by(table.game)
        query = query.where(table.game.in_(games), table.bot == bot_name, table.opponent == opponent)
        query = query.where(table.time_control == "")
        rows = (await connection.execute(query)).all()
        return [HeadToHeadScore(row.game, *map(int, row[1:])) for row in rows]


def _make_page_cursor(match: MatchSummary) -> str:
    return f"{match.end_time}|{match.match}"


def _is_accepted_by_filter(match: MatchSummary, filter: SearchFilter) -> bool:
    """Return True if a match meets all terms of `filter` except `opening`, which the query has already checked."""
    names = {match.players.maxie, match.players.minnie}
    return (
        (not filter.bot or filter.bot in names)
        and (not filter.opponent or {filter.bot, filter.opponent} == names)
        and filter.map in ("", match.map)
        and filter.game in ("", match.game)
        and filter.event in ("", match.event)
        and filter.result in ("", *_list_result_filter_values(match, filter.bot))
    )


def _list_result_filter_values(match: MatchSummary, bot_name_filter: str) -> Iterator[str]:
    """Yield each value of `SearchFilter.result` with which a search finds the match.

    bot_name_filter: value of `SearchFilter.bot` in the search, from whose view a match is `won` or `lost`
    """
    winner, reason = match.result.winner, match.result.reason
    yield reason.value
    if winner is not None:
        yield winner
        for seat in ("maxie", "minnie"):
            if match.players.get_bot_name(seat) == bot_name_filter:
                yield WON if seat == winner else LOST
    elif reason is not EndReason.SERVER_FAULT:
        yield DRAWN


def _choose_terms_covered_by_index(term_names: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of the search terms `term_names` that the best database index covers; empty if no index helps."""
    if "opening" in term_names:
        return ("opening",)
    if "bot" in term_names and "opponent" in term_names:
        return ("bot", "opponent")
    if "event" in term_names:
        return ("event",)
    if "bot" in term_names:
        return ("bot", "game")
    return next(((name,) for name in ("map", "game") if name in term_names), ())


SqlConditions = tuple[sa.ColumnElement[bool], ...]


@lru_cache(maxsize=256)
def _build_search_query(index_terms: tuple[str, ...], game_count: int, *, has_cursor: bool) -> sa.Select[Any]:
    """Return the query for the newest matches that meet `index_terms`. The query's parameter `max_read` limits the number.

    index_terms: names of the search terms that the database index covers, such as `bot` and `game`
    game_count: number of games whose matches a search for a bot reads; 0 if the terms are not `bot` and `game`
    has_cursor: True if the search begins after a given match, not at the newest one

    A search for a bot reads several ranges of the index: two per game, one for each side of the bot. The query first finds
    the newest matches of all ranges in the index alone, and then reads only these in full. A match of a bot against itself
    is in two ranges, but is returned once.

    Queries are cached, because building a query takes longer than running it.
    """
    limit = sa.bindparam("max_read", type_=sa.Integer)
    position_conditions = (_build_page_cursor_condition(),) if has_cursor else ()
    condition_lists = [
        (*list_conditions, *position_conditions, IS_FINISHED_MATCH)
        for list_conditions in _build_index_range_conditions(index_terms, game_count)
    ]
    if len(condition_lists) == 1:
        return SELECT_MATCH_SUMMARIES.where(*condition_lists[0]).order_by(*_ORDER_NEWEST_FIRST).limit(limit)
    list_queries = (
        sa.select(matches.c.finished, matches.c.number)
        .where(*list_conditions)
        .order_by(*_ORDER_NEWEST_FIRST)
        .limit(limit)
        for list_conditions in condition_lists
    )
    newest = sa.union(*(sa.select(list_query.subquery()) for list_query in list_queries)).subquery()
    order = newest.c.finished.desc(), newest.c.number.desc()
    numbers = sa.select(newest.c.number).order_by(*order).limit(limit).subquery()
    query = SELECT_MATCH_SUMMARIES.join(numbers, numbers.c.number == matches.c.number)
    return query.order_by(*_ORDER_NEWEST_FIRST)


def _build_page_cursor_condition() -> sa.ColumnElement[bool]:
    """Return the SQL condition that a match comes after a given match in a list that begins with the newest match.

    The parameters `finished_before` and `before` are the end time and the id of the given match.
    """
    known_match = matches.alias("known")
    known_id = sa.bindparam("before", type_=matches.c.match.type)
    number = sa.select(known_match.c.number).where(known_match.c.match == known_id).scalar_subquery()
    # If the given match was removed meanwhile, its time is still known, and all matches of this time are skipped.
    finished = sa.bindparam("finished_before", type_=matches.c.finished.type)
    return sa.tuple_(finished, sa.func.coalesce(number, 0)) > _PAGE_CURSOR_COLUMNS


def _build_index_range_conditions(index_terms: tuple[str, ...], game_count: int) -> list[SqlConditions]:
    """Return, for each range of a database index that a search must read, the conditions of a WHERE clause.

    A search for a bot, for example, has two ranges for each game: the bot's matches as the first player, and its matches as the
    second player. The caller must merge the ranges.

    index_terms: names of the search terms that the database index covers, such as `bot` and `game`
    game_count: number of games whose matches a search for a bot reads; 0 if the terms are not `bot` and `game`
    """
    column = matches.c

    def make_typed_parameter(name: str, column: sa.Column[Any]) -> sa.BindParameter[Any]:
        return sa.bindparam(name, type_=column.type)

    if index_terms == ("bot", "opponent"):
        bot, opponent = (
            make_typed_parameter("bot", column.maxie),
            make_typed_parameter("opponent", column.maxie),
        )
        return [
            (column.maxie == bot, column.minnie == opponent),
            (column.maxie == opponent, column.minnie == bot),
        ]
    if index_terms == ("bot", "game"):
        bot = make_typed_parameter("bot", column.maxie)
        conditions = [
            column.game == make_typed_parameter(f"game{number}", column.game) for number in range(game_count)
        ]
        return [(seat == bot, game) for game in conditions for seat in (column.maxie, column.minnie)]
    return [tuple(column[name] == make_typed_parameter(name, column[name]) for name in index_terms)]
