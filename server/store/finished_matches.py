"""Finished matches: their records, and their summaries for lists.

The columns of a summary are copied from the record into `matches`, so that a list need not unpack any record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from msgspec import Struct, field
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.protocol.codes import EndReason
from arena.protocol.record import Record, Result
from arena.protocol.values import Players
from arena.rating.rater import FinishedMatch
from arena.server.store.database import Engine, fetch
from arena.server.store.packing import unpack_record
from arena.server.store.schema import ARRIVAL_SEQUENCE, LAST_UNICODE_CHARACTER, matches, records

MAX_TEXT_LENGTH_BY_COLUMN = {"map": 128, "time_control": 64, "detail": 500}
"""Maximum length of the text in each of these columns of `matches`, in characters.

The maximum lengths limit the size of a list of matches, whatever the records of the matches contain.
"""

MATCH_DIGEST_BYTES = 16
"""Length of the hash of a match from `compute_match_digest`, in bytes. A match that repeats another has the same hash."""
PLIES_IN_OPENING_KEY = 4
"""Number of plies (moves of one player) that count as the opening of a match that began without moves from an opening book."""

MATCH_RESULT_COLUMNS = ("map", "time_control", "plies", "winner", "reason", "detail")
"""Columns of `matches` that are copied from the record at the end of a match, and shown in lists of matches."""
SELECT_MATCH_SUMMARIES = sa.select(
    *(
        matches.c[name]
        for name in ("match", "event", "game", "maxie", "minnie", "finished", *MATCH_RESULT_COLUMNS)
    )
)
"""SELECT of the columns of `matches` from which `make_match_summary_from_row` makes a MatchSummary."""
COLUMNS_SET_AT_MATCH_END = (*MATCH_RESULT_COLUMNS, "opening")
"""Columns of `matches` whose values `make_match_end_values` computes from the record at the end of a match."""

PageCursor = tuple[str, str]
"""Position in a list of matches, newest first: the end time and the id of the last match before the position."""


class MatchSummary(Struct, frozen=True):
    """Finished match as shown in a list."""

    match: str
    event: str
    game: str
    map: str
    players: Players
    time_control: str
    end_time: str = field(name="finished")
    ply_count: int = field(name="plies")
    result: Result


class MatchList(Struct, frozen=True):
    """One page of a list of finished matches, newest first."""

    matches: list[MatchSummary]
    next_cursor: str | None = field(name="next")
    """Position of the next page: a `PageCursor` as the text `TIME|MATCH`; None on the last page."""


def make_match_end_values(record: Record) -> dict[str, Any]:
    """Return the values of COLUMNS_SET_AT_MATCH_END for a finished match, by column name. Long texts are truncated."""
    name, result = record.setup.get("map"), record.result
    text_columns = {
        "map": name if isinstance(name, str) else "",
        "time_control": record.time_odds.describe_time_controls(record.time_control),
        "detail": result.detail,
    }
    # PostgreSQL cannot store NUL in a text.
    truncated_texts = {
        column: text[: MAX_TEXT_LENGTH_BY_COLUMN[column]].replace("\0", "\ufffd")
        for column, text in text_columns.items()
    }
    book_move_count = sum(move.opening for move in record.moves)
    first_moves = [move.move for move in record.moves[: book_move_count or PLIES_IN_OPENING_KEY]]
    opening = make_opening_key(record.game, record.setup, first_moves, book_move_count)
    result_columns = {"plies": len(record.moves), "winner": result.winner, "reason": result.reason.value}
    return truncated_texts | result_columns | {"opening": opening}


def make_opening_key(
    game: str, setup: Mapping[str, Any], moves: Sequence[Any], book_move_count: int
) -> str | None:
    """Return 16 hexadecimal digits that identify a match's opening; None if the match ended during its opening.

    setup: setup of the match; only the name of its map is used
    moves: moves of the match from its start, as plain data; moves after the opening are ignored
    book_move_count: number of moves from an opening book before the bots took over; with 0, the first
        PLIES_IN_OPENING_KEY plies count as the opening
    """
    count = book_move_count or PLIES_IN_OPENING_KEY
    if len(moves) < count:
        return None
    # The key depends on the game, the name of the map, and the moves.
    key_bytes = msgspec.json.encode([game, setup.get("map", ""), list(moves[:count])])
    return sha256(key_bytes).hexdigest()[:16]


def compute_match_digest(record: Record) -> bytes:
    """Return a hash that is equal for two matches if one repeats the other, apart from the times of the moves.

    One match repeats another if the same bots have the same seats and make the same moves, and the result is the same.
    Only the first of such matches is rated, because a repeated match of two deterministic bots carries no new
    information.
    """
    moves = [move.move for move in record.moves]
    fields = [record.game, record.setup, record.players, moves, record.result.winner, record.result.reason]
    text = msgspec.json.encode(fields, order="deterministic")
    return sha256(text).digest()[:MATCH_DIGEST_BYTES]


NEXT_ARRIVAL_SQL_BY_DIALECT = {
    "postgresql": f"nextval('{ARRIVAL_SEQUENCE.name}')",
    "sqlite": "(SELECT coalesce(max(arrival), 0) + 1 FROM matches WHERE finished IS NOT NULL)",
}
"""SQL expression for the next arrival number of a finished match, by SQL dialect (`postgresql` or `sqlite`).

Ratings are computed in the order of these numbers, not of end times, because the clocks of servers differ and may be
wrong by years. A transaction that counts a match must see every match with a lower number. So on PostgreSQL, transactions
that assign numbers must exclude transactions that count. SQLite has only one writer at a time.
"""
INSERT_PACKED_RECORD_SQL = (
    "INSERT INTO records (number, packed, whole) SELECT number, :packed, :whole FROM matches"
    " WHERE match = :match AND finished IS NOT NULL ON CONFLICT DO NOTHING"
)
"""Statement that stores the packed (compressed) data of a finished match, unless the match has such data already.

`:whole` is true if `:packed` has the match's terms (players, clocks) and events (moves), and not only its record.
"""


def make_result_from_row(row: Any, detail: str = "") -> Result:
    """Return the result of a match from the columns `winner` and `reason` of a row.

    row: row whose column `winner` is a seat (`maxie` or `minnie`), or None or empty if nobody won
    detail: explanation of the result
    """
    return Result(row.winner or None, EndReason(row.reason), detail)


def make_finished_match_from_row(row: Any) -> FinishedMatch:
    """Return a finished match from its row of the table `matches`."""
    return FinishedMatch(row.match, row.game, Players(row.maxie, row.minnie), make_result_from_row(row))


IS_FINISHED_MATCH = matches.c.finished.is_not(None)
"""SQL condition that a match is finished. The partial indices of finished matches have the same condition.

All queries share this object, because condition objects are the keys of the cache in `list_distinct_games`.
"""


async def read_finished_matches_of_event(
    connection: AsyncConnection, event_name: str
) -> dict[str, FinishedMatch]:
    """Return the results of the finished matches of a tournament or ladder by match id, in order of finishing."""
    table = matches.c
    query = sa.select(table.match, table.game, table.maxie, table.minnie, table.winner, table.reason)
    query = query.where(table.event == event_name, IS_FINISHED_MATCH)
    rows = await connection.execute(query.order_by(table.finished, table.number))
    return {row.match: make_finished_match_from_row(row) for row in rows}


MIN_MATCH_ID_PREFIX_LENGTH = 4
"""Minimum length of the prefix of a match id for `find_record`, in characters."""


async def load_record_line(engine: Engine, match_id: str) -> str | None:
    """Return the record of a finished match as one line of JSON; None if no finished match has the id `match_id`."""
    query = sa.select(records.c.packed).join(matches, matches.c.number == records.c.number)
    packed = (await fetch(engine, query.where(matches.c.match == match_id))).scalar_one_or_none()
    return None if packed is None else unpack_record(packed)


class FoundRecord(NamedTuple):
    """Record of a match that was looked up by its id, or by the beginning of its id."""

    record_line: str | None
    """Record as one line of JSON; None if it is not found."""
    is_full_match_id: bool
    """False if only the beginning of the id was given.

    A later match may have the same beginning, so the record is not cached.
    """


async def find_record(engine: Engine, match_id_or_prefix: str) -> FoundRecord:
    """Return the record of a finished match, as one line of JSON, by its id or by the beginning of its id.

    match_id_or_prefix: id of the match, or at least MIN_MATCH_ID_PREFIX_LENGTH characters at the beginning of its id

    If no match, or more than one, has such an id, `FoundRecord.record_line` is None.
    """
    line = await load_record_line(engine, match_id_or_prefix)
    if line is not None or len(match_id_or_prefix) < MIN_MATCH_ID_PREFIX_LENGTH:
        return FoundRecord(line, is_full_match_id=True)
    query = sa.select(records.c.packed).join(matches, matches.c.number == records.c.number)
    query = query.where(
        matches.c.match >= match_id_or_prefix, matches.c.match < match_id_or_prefix + LAST_UNICODE_CHARACTER
    ).limit(2)
    rows = (await fetch(engine, query)).scalars().all()
    return FoundRecord(unpack_record(rows[0]) if len(rows) == 1 else None, is_full_match_id=False)


async def load_match_summary(engine: Engine, match_id: str) -> MatchSummary | None:
    """Return a finished match as shown in lists; None if no finished match has the id `match_id`."""
    query = SELECT_MATCH_SUMMARIES.where(matches.c.match == match_id, IS_FINISHED_MATCH)
    row = (await fetch(engine, query)).one_or_none()
    return None if row is None else make_match_summary_from_row(row)


async def list_distinct_games(
    connection: AsyncConnection, game_column: sa.Column[Any], *conditions: Any
) -> list[str]:
    """Return the sorted distinct names of games in `game_column`, in the rows that meet all `conditions`.

    The query takes one index lookup per game. Pass the same objects for the column and the conditions in every call,
    because they are the keys of a cache of queries.
    """
    return list((await connection.execute(_build_distinct_games_query(game_column, conditions))).scalars())


@lru_cache(maxsize=8)  # one query per column and condition, both constants in the code
def _build_distinct_games_query(game_column: sa.Column[Any], conditions: tuple[Any, ...]) -> sa.Select[Any]:
    games = sa.select(sa.func.min(game_column).label("game")).where(*conditions).cte("games", recursive=True)
    next_game = (
        sa.select(sa.func.min(game_column)).where(*conditions, game_column > games.c.game).scalar_subquery()
    )
    games = games.union_all(sa.select(next_game).where(games.c.game.is_not(None)))
    return sa.select(games.c.game).where(games.c.game.is_not(None)).order_by(games.c.game)


def make_match_summary_from_row(row: sa.Row[Any]) -> MatchSummary:
    """Return the summary of a finished match from a row of `SELECT_MATCH_SUMMARIES`."""
    return MatchSummary(
        row.match,
        row.event,
        row.game,
        row.map,
        Players(row.maxie, row.minnie),
        row.time_control,
        row.finished,
        row.plies,
        make_result_from_row(row, row.detail),
    )
