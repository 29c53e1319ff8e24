"""Export records of finished matches from a store as JSON Lines, and import them.

A line is a record (`protocol.record`) with two optional fields: `finished`, the end time of the match, and `rated`,
true if the match is rated. Records that `arena ladder` writes have neither field. Records that break the rules of their
game are not imported.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import BufferedIOBase
from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import structs
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.match.analysis_limits import AnalysisTrimmer
from arena.match.replay import verify_record
from arena.protocol.record import MAX_RECORD_BYTES, BadRecord, Record, format_record_line, parse_record_line
from arena.protocol.timecontrol import TimeControl
from arena.server.store import database
from arena.server.store.database import Engine
from arena.server.store.finished_matches import (
    INSERT_PACKED_RECORD_SQL,
    IS_FINISHED_MATCH,
    NEXT_ARRIVAL_SQL_BY_DIALECT,
    make_match_end_values,
)
from arena.server.store.packing import PackableMatch, pack_match, unpack_record
from arena.server.store.schema import matches, records
from arena.server.store.tokens import is_valid_name

IMPORTED_MATCHES_PER_TRANSACTION = 100
"""Maximum number of matches that are imported in one transaction."""

EARLIEST_MATCH_TIME = datetime(2020, 1, 1, tzinfo=UTC)
"""Earliest time at which a match can have been played: the beginning of 2020, UTC."""
MAX_CLOCK_SKEW = timedelta(days=1)
"""Maximum time by which another machine's clock may be ahead of this one's. A match time further ahead is invalid."""

MATCH_START_TIME_PATTERN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
MATCH_END_TIME_PATTERN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class ArchivedMatch(Record, frozen=True, kw_only=True):
    """Line of an archive: the record of a match, with the match's end time and whether the match is rated."""

    finished: str | None = None
    """End time of the match, in the format of `database.format_current_time`; None if the line has none."""
    rated: bool = False


@dataclass
class ImportResult:
    """Result of an import of matches, one per line: which lines were added, already stored, or rejected.

    Empty lines do not count.
    """

    added_count: int = 0
    """Number of lines whose match was added to the store."""
    unchanged_count: int = 0
    """Number of lines whose match was in the store already, with the same record."""
    reason_by_rejected_line: dict[int, str] = field(default_factory=dict)
    """Reason why a line was not imported, for each rejected line, by line number (from 1)."""


async def export_archive_lines(
    engine: Engine, event_name: str | None = None, bot_names: Sequence[str] = ()
) -> AsyncGenerator[str, None]:
    """Yield each finished match as one line of JSON, without a line break, from a snapshot of the store (one state of it).

    The matches are in the order in which the store received them. A caller that stops early must close the generator.

    event_name: only matches of this event; None for all events
    bot_names: only matches that at least one of these bots played; empty for all matches
    """
    query = sa.select(records.c.packed, matches.c.finished, matches.c.rated)
    query = query.join(matches, matches.c.number == records.c.number).where(IS_FINISHED_MATCH)
    if event_name is not None:
        query = query.where(matches.c.event == event_name)
    if bot_names:
        query = query.where(matches.c.maxie.in_(bot_names) | matches.c.minnie.in_(bot_names))
    async with database.open_snapshot_connection(engine) as connection:
        async for row in await connection.stream(query.order_by(matches.c.arrival)):
            yield format_archive_line(row)


def format_archive_line(match_row: Any) -> str:
    """Return a finished match as one line of JSON, from a row with the columns `packed` (its record), `finished` and `rated`."""
    record = structs.asdict(parse_record_line(unpack_record(match_row.packed)))
    return msgspec.json.encode(
        ArchivedMatch(**record, finished=match_row.finished, rated=match_row.rated)
    ).decode()


async def import_matches(
    engine: Engine,
    parsed_matches: Iterable[tuple[int, ArchivedMatch]],
    result: ImportResult,
    *,
    counts_rated_matches: bool,
) -> None:
    """Add matches to the store, and the outcome for each to `result`.

    parsed_matches: pairs of a line number and the match in that line, from `parse_archive_lines`
    counts_rated_matches: True to let matches that the file marks as rated change the ratings; False to import all
        matches as unrated, because anybody can write such a mark into a file

    Each transaction adds at most IMPORTED_MATCHES_PER_TRANSACTION matches. So after an error, some of the matches may be stored.
    """
    for chunk in database.split_into_chunks(parsed_matches, IMPORTED_MATCHES_PER_TRANSACTION):
        async with database.open_exclusive_transaction(engine) as connection:
            await _import_match_chunk(connection, chunk, result, counts_rated_matches=counts_rated_matches)


def read_archive_lines(archive_file: BufferedIOBase) -> Iterator[bytes]:
    """Yield the lines of a file.

    A line longer than MAX_RECORD_BYTES is cut off after MAX_RECORD_BYTES + 1 bytes, so that it is still rejected as too
    long.
    """
    while line := archive_file.readline(MAX_RECORD_BYTES + 1):
        remainder = line
        while len(remainder) > MAX_RECORD_BYTES and not remainder.endswith(b"\n"):
            remainder = archive_file.readline(MAX_RECORD_BYTES + 1)
        yield line


def parse_archive_lines(lines: Iterable[bytes], result: ImportResult) -> Iterator[tuple[int, ArchivedMatch]]:
    """Yield the number of each valid line, counted from 1, and its match. Add the other lines to `result`, with the reasons."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield number, parse_archive_line(line)
        except BadRecord as error:
            result.reason_by_rejected_line[number] = str(error)


_decode_archived_match = msgspec.json.Decoder(ArchivedMatch).decode


def parse_archive_line(archive_line: bytes) -> ArchivedMatch:
    """Return the match in a line, checked against the rules of its game.

    A missing end time is computed from the start time and the times of the moves. The analysis that a bot sent with a move
    is cut to the size that a server stores.

    Raises BadRecord for an invalid line.
    """
    if len(archive_line) > MAX_RECORD_BYTES:
        raise BadRecord(
            f"the line is too long for a record: {len(archive_line):,} bytes, but at most {MAX_RECORD_BYTES:,} are allowed"
        )
    try:
        archived = _decode_archived_match(archive_line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRecord(f"not a record: {error}") from None
    if not is_valid_name(archived.match):
        raise BadRecord(f"`match` must be 1 to 64 printable characters, not {archived.match!r:.80}")
    if not is_valid_name(archived.game):
        raise BadRecord(
            f"match {archived.match}: `game` must be 1 to 64 printable characters, not {archived.game!r:.80}"
        )
    if len(archived.event) > 128 or not archived.event.isprintable():
        raise BadRecord(
            f"match {archived.match}: `event` must be at most 128 printable characters, not {archived.event!r:.140}"
        )
    for name in (archived.players.maxie, archived.players.minnie):
        if not is_valid_name(name):
            raise BadRecord(
                f"match {archived.match}: a player's name must be 1 to 64 printable characters, without a space at either end, not {name!r:.80}"
            )
    try:
        replayed = verify_record(archived)
    except BadRecord as error:
        raise BadRecord(f"match {archived.match}: {error}") from None
    trimmer, game = AnalysisTrimmer(replayed.game), replayed.game
    moves = [
        trimmer.trim_move(game.player(position), move)
        for position, move in zip(replayed.positions[:-1], archived.moves, strict=True)
    ]
    return structs.replace(archived, finished=_find_end_time(archived), moves=moves)


def _find_end_time(match: ArchivedMatch) -> str:
    """Return the end time of a match; if none is given, the start time plus the times of all moves.

    Raises BadRecord if the start or the end is not a valid time.
    """
    start_time = _parse_time_field(match, "started", MATCH_START_TIME_PATTERN)
    if match.finished is not None:
        _parse_time_field(match, "finished", MATCH_END_TIME_PATTERN)
        return match.finished
    try:
        end_time = start_time + timedelta(milliseconds=sum(move.ms for move in match.moves))
    except OverflowError:
        raise BadRecord(
            f"match {match.match}: the times of its moves put its end after the year 9999"
        ) from None
    _require_plausible_time(match, "the end of its moves", end_time)
    return database.format_store_timestamp(end_time)


def _require_plausible_time(match: ArchivedMatch, time_label: str, time: datetime) -> None:
    """Raise BadRecord if `time` is before EARLIEST_MATCH_TIME or more than MAX_CLOCK_SKEW in the future.

    time_label: words for the time in the error message, such as `finished`
    """
    latest = datetime.now(UTC) + MAX_CLOCK_SKEW
    if not EARLIEST_MATCH_TIME <= time <= latest:
        problem = (
            f"before {EARLIEST_MATCH_TIME:%Y}"
            if time < EARLIEST_MATCH_TIME
            else f"more than {MAX_CLOCK_SKEW // timedelta(hours=1)} hours in the future"
        )
        raise BadRecord(
            f"match {match.match}: {time_label} ({database.format_store_timestamp(time)}) is {problem}"
        )


def _parse_time_field(match: ArchivedMatch, field_name: str, pattern: re.Pattern[str]) -> datetime:
    text = str(getattr(match, field_name))
    try:
        time = datetime.fromisoformat(text if pattern.fullmatch(text) else "")
    except ValueError:
        raise BadRecord(
            f"match {match.match}: `{field_name}` must be a time in UTC, such as 2026-11-20T12:00:00Z, not {text!r:.60}"
        ) from None
    _require_plausible_time(match, f"`{field_name}`", time)
    return time


async def _import_match_chunk(
    connection: AsyncConnection,
    chunk: Sequence[tuple[int, ArchivedMatch]],
    result: ImportResult,
    *,
    counts_rated_matches: bool,
) -> None:
    """Add the matches of `chunk` to the store, and record in `result` whether each line was added.

    chunk: pairs of a line number and the match in that line
    counts_rated_matches: True to let matches that are marked as rated change the ratings
    """
    match_ids = [archived.match for _, archived in chunk]
    query = sa.select(matches.c.match, records.c.packed).where(matches.c.match.in_(match_ids))
    query = query.outerjoin(records, records.c.number == matches.c.number)
    stored_records: dict[str, Record | None] = {
        row.match: None if row.packed is None else parse_record_line(unpack_record(row.packed))
        for row in (await connection.execute(query)).all()
    }
    rows: list[dict[str, Any]] = []
    packed_rows: list[dict[str, Any]] = []
    for number, archived in chunk:
        record = Record(**{name: getattr(archived, name) for name in Record.__struct_fields__})
        if archived.match not in stored_records:
            rows.append(_make_match_row(archived, record, counts_rated_matches=counts_rated_matches))
            packed_match = pack_match(PackableMatch(format_record_line(record), _encode_terms(record), []))
            packed_rows.append({"match": record.match, "packed": packed_match, "whole": True})
            stored_records[archived.match] = record
            result.added_count += 1
            continue
        stored_record = stored_records[archived.match]
        if stored_record is None:
            result.reason_by_rejected_line[number] = f"match {archived.match} is in progress in this store"
        elif stored_record != record:
            result.reason_by_rejected_line[number] = (
                f"match {archived.match} is already in the store, with a different record"
            )
        else:
            result.unchanged_count += 1
    if rows:
        arrival: sa.ColumnElement[int] = sa.literal_column(
            NEXT_ARRIVAL_SQL_BY_DIALECT[connection.dialect.name]
        )
        await connection.execute(sa.insert(matches).values(arrival=arrival), rows)
        await connection.execute(sa.text(INSERT_PACKED_RECORD_SQL), packed_rows)


def _encode_terms(record: Record) -> str:
    # A record contains only these terms of the match.
    terms = {"setup": record.setup, "time_control": TimeControl.parse(record.time_control)}
    return msgspec.json.encode(terms).decode()


def _make_match_row(match: ArchivedMatch, record: Record, *, counts_rated_matches: bool) -> dict[str, Any]:
    return {
        "match": record.match,
        "event": record.event,
        "game": record.game,
        "maxie": record.players.maxie,
        "minnie": record.players.minnie,
        "terms": "",
        "started": record.started,
        "rated": match.rated and counts_rated_matches,
        "finished": match.finished,
    } | make_match_end_values(record)
