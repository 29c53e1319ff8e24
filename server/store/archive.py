"""Export records from a store as lines of JSON, and import them.

A line is a record (`protocol.record`) with two optional fields: the end of the match, and whether it is rated.
Lines from a ladder have neither field, and are accepted too. Records that break the rules are not imported.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import BufferedIOBase
from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import structs
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.match.replay import verify
from arena.match.thinking import ThinkingLimit
from arena.protocol.record import RECORD_BYTES, BadRecord, Record, from_line, to_line
from arena.protocol.timecontrol import TimeControl
from arena.server.store import database
from arena.server.store.finished import keep_record, next_arrival, summary_columns
from arena.server.store.packing import MatchData, pack_match, record_in
from arena.server.store.schema import matches, records
from arena.server.store.tokens import is_name

CHUNK = 100
"""Number of records written in one transaction."""

EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
"""Earliest possible time of a match."""
CLOCKS_DIFFER = timedelta(days=1)
"""Maximum time by which the clock of another machine may be ahead."""

STARTED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
FINISHED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class ArchivedMatch(Record, frozen=True, kw_only=True):
    """Record with the store's data about its match."""

    finished: str | None = None
    """End of the match, as formatted by `database.now`."""
    rated: bool = False


@dataclass
class ImportCounts:
    """Result of importing the lines of a file."""

    added: int = 0
    known: int = 0
    """Number of lines whose record was already in the store, unchanged."""
    bad: dict[int, str] = field(default_factory=dict)
    """Reason for leaving out a line, by line number."""


async def export_lines(
    engine: AsyncEngine, event: str | None = None, bots: Sequence[str] = ()
) -> AsyncIterator[str]:
    """Yield the finished matches as lines, in order of arrival, from a snapshot of the store.

    bots: only matches that at least one of these bots played; empty for all matches
    """
    query = sa.select(records.c.packed, matches.c.finished, matches.c.rated)
    query = query.join(matches, matches.c.number == records.c.number).where(matches.c.finished.is_not(None))
    if event is not None:
        query = query.where(matches.c.event == event)
    if bots:
        query = query.where(matches.c.maxie.in_(bots) | matches.c.minnie.in_(bots))
    async with database.snapshot(engine) as connection:
        async for row in await connection.stream(query.order_by(matches.c.arrival)):
            yield archived_line(row)


def archived_line(row: Any) -> str:
    """Return the line of a finished match, from a row with `packed`, `finished` and `rated`."""
    record = structs.asdict(from_line(record_in(row.packed)))
    return msgspec.json.encode(ArchivedMatch(**record, finished=row.finished, rated=row.rated)).decode()


async def import_lines(engine: AsyncEngine, lines: Iterable[bytes], *, trust: bool = False) -> ImportCounts:
    """Import the matches of these lines into the store. Bad lines are left out, and the others imported.

    trust: True if matches marked as rated count for the ratings. Anybody can write such a line.
    """
    counts = ImportCounts()
    for chunk in database.chunks(_read(lines, counts), CHUNK):
        async with database.exclusive(engine) as connection:
            await _add(connection, chunk, counts, trust=trust)
    return counts


def read_lines(file: BufferedIOBase) -> Iterator[bytes]:
    """Yield the lines of a file, each cut off where it exceeds the maximum length of a record."""
    while line := file.readline(RECORD_BYTES + 1):
        rest = line
        while len(rest) > RECORD_BYTES and not rest.endswith(b"\n"):
            rest = file.readline(RECORD_BYTES + 1)
        yield line


def _read(lines: Iterable[bytes], counts: ImportCounts) -> Iterator[tuple[int, ArchivedMatch]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield number, read_line(line)
        except BadRecord as error:
            counts.bad[number] = str(error)


_decode = msgspec.json.Decoder(ArchivedMatch).decode


def read_line(line: bytes) -> ArchivedMatch:
    """Return the match in a line, with its end or a possible one. Raises BadRecord for an invalid line."""
    if len(line) > RECORD_BYTES:
        raise BadRecord(f"not a record: it must have at most {RECORD_BYTES:,} bytes, not {len(line):,}")
    try:
        archived = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRecord(f"no record: {error}") from None
    if not is_name(archived.match):
        raise BadRecord("`match` must be 1 to 64 printable characters")
    if not is_name(archived.game) or len(archived.event) > 128 or not archived.event.isprintable():
        raise BadRecord(
            f"match {archived.match}: `game` or `event` is too long or has unprintable characters"
        )
    if not all(map(is_name, (archived.players.maxie, archived.players.minnie))):
        raise BadRecord(f"match {archived.match}: a player's name must be 1 to 64 printable characters")
    try:
        replayed = verify(archived)
    except BadRecord as error:
        raise BadRecord(f"match {archived.match}: {error}") from None
    limit, game = ThinkingLimit(replayed.game), replayed.game
    moves = [
        limit.limit_recorded(game.player(position), move)
        for position, move in zip(replayed.positions[:-1], archived.moves, strict=True)
    ]
    return structs.replace(archived, finished=_end_time(archived), moves=moves)


def _end_time(archived: ArchivedMatch) -> str:
    """Return the end of the match, or its earliest possible end if the line has none."""
    start_time = _time(archived, "started", STARTED)
    if archived.finished is not None:
        _time(archived, "finished", FINISHED)
        return archived.finished
    try:
        end = start_time + timedelta(milliseconds=sum(each.ms for each in archived.moves))
    except OverflowError:
        raise BadRecord(f"match {archived.match}: its moves take too long to give an end time") from None
    _require_possible(archived, "the end of its moves", end)
    return database.timestamp(end)


def _require_possible(archived: ArchivedMatch, name: str, time: datetime) -> None:
    """Raise BadRecord if no match can have been played at `time`: before EARLIEST or in the future."""
    latest = datetime.now(UTC) + CLOCKS_DIFFER
    if not EARLIEST <= time <= latest:
        where = f"before {EARLIEST:%Y}" if time < EARLIEST else f"after {database.timestamp(latest)}"
        raise BadRecord(f"match {archived.match}: {name} is {where}: {database.timestamp(time)}")


def _time(archived: ArchivedMatch, name: str, form: re.Pattern[str]) -> datetime:
    text = str(getattr(archived, name))
    try:
        time = datetime.fromisoformat(text if form.fullmatch(text) else "")
    except ValueError:
        raise BadRecord(f"match {archived.match}: `{name}` must be a time in UTC, not {text!r:.60}") from None
    _require_possible(archived, f"`{name}`", time)
    return time


async def _add(
    connection: AsyncConnection,
    chunk: Sequence[tuple[int, ArchivedMatch]],
    counts: ImportCounts,
    *,
    trust: bool,
) -> None:
    names = [archived.match for _, archived in chunk]
    query = sa.select(matches.c.match, records.c.packed).where(matches.c.match.in_(names))
    query = query.outerjoin(records, records.c.number == matches.c.number)
    stored_records: dict[str, Record | None] = {
        row.match: None if row.packed is None else from_line(record_in(row.packed))
        for row in (await connection.execute(query)).all()
    }
    rows: list[dict[str, Any]] = []
    packed: list[dict[str, Any]] = []
    for number, archived in chunk:
        record = _record(archived)
        if archived.match not in stored_records:
            rows.append(_row(archived, record, trust=trust))
            whole = pack_match(MatchData(to_line(record), _terms(record), []))
            packed.append({"which": record.match, "packed": whole, "whole": True})
            stored_records[archived.match] = record
            counts.added += 1
            continue
        stored = stored_records[archived.match]
        if stored is None:
            counts.bad[number] = f"match {archived.match} is in progress in this store"
        elif stored != record:
            counts.bad[number] = f"match {archived.match} is in the store already, as another record"
        else:
            counts.known += 1
    if rows:
        kind = connection.dialect.name
        await connection.execute(sa.insert(matches).values(arrival=next_arrival(kind)), rows)
        await connection.execute(keep_record(kind), packed)


def _record(archived: ArchivedMatch) -> Record:
    return Record(**{name: getattr(archived, name) for name in Record.__struct_fields__})


def _terms(record: Record) -> str:
    # A record contains no other terms of the match.
    terms = {"setup": record.setup, "time_control": TimeControl.parse(record.time_control)}
    return msgspec.json.encode(terms).decode()


def _row(archived: ArchivedMatch, record: Record, *, trust: bool) -> dict[str, Any]:
    return {
        "match": record.match,
        "event": record.event,
        "game": record.game,
        "maxie": record.players.maxie,
        "minnie": record.players.minnie,
        "terms": "",
        "started": record.started,
        "rated": archived.rated and trust,
        "finished": archived.finished,
    } | summary_columns(record)
