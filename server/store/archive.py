"""Records out of a store and into one, as lines of JSON.

A line is a record (`protocol.record`) and, beside it, when the match finished and whether it is rated; a
line without these two, as a ladder writes it, is as good. Nothing goes in that the rules do not bear out.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import BufferedIOBase
from itertools import islice
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
from arena.server.store.arrival import next_arrival
from arena.server.store.finished import keep_record, shown_of
from arena.server.store.packing import Whole, pack_whole, record_in
from arena.server.store.schema import matches, records
from arena.server.store.tokens import is_name

CHUNK = 100
"""Records that are written in one transaction."""

EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
"""No match was played before."""
CLOCKS_DIFFER = timedelta(days=1)
"""By how much the clock of another machine may be ahead."""

STARTED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
FINISHED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class Archived(Record, frozen=True, kw_only=True):
    """A record, and what the store knows of its match beside it."""

    finished: str | None = None
    """When the match finished, as `database.now` writes it."""
    rated: bool = False


@dataclass
class Imported:
    """What became of the lines of a file."""

    added: int = 0
    known: int = 0
    """Lines whose record was in the store already, the same."""
    bad: dict[int, str] = field(default_factory=dict)
    """Why a line was left out, by its number."""


async def export_lines(engine: AsyncEngine, event: str | None = None) -> AsyncIterator[str]:
    """The finished matches as lines, in the order in which they came in, as they are at the beginning."""
    query = sa.select(records.c.packed, matches.c.finished, matches.c.rated)
    query = query.join(matches, matches.c.number == records.c.number).where(matches.c.finished.is_not(None))
    if event is not None:
        query = query.where(matches.c.event == event)
    async with database.snapshot(engine) as connection:
        async for row in await connection.stream(query.order_by(matches.c.arrival)):
            yield archived_line(row)


def archived_line(row: Any) -> str:
    """The line of a finished match, of which a row has `packed`, `finished` and `rated`."""
    record = structs.asdict(from_line(record_in(row.packed)))
    return msgspec.json.encode(Archived(**record, finished=row.finished, rated=row.rated)).decode()


async def import_lines(engine: AsyncEngine, lines: Iterable[bytes], *, trust: bool = False) -> Imported:
    """Put the matches of these lines into the store. Bad lines are left out; the others go in.

    trust: whether a match that says that it is rated counts for the ratings. Anybody can write such a line.
    """
    done = Imported()
    for chunk in _chunks(_read(lines, done)):
        async with database.exclusive(engine) as connection:
            await _add(connection, chunk, done, trust=trust)
    return done


def read_lines(file: BufferedIOBase) -> Iterator[bytes]:
    """The lines of a file. Of one that is longer than any record no more than that is read at once, and given."""
    while line := file.readline(RECORD_BYTES + 1):
        rest = line
        while len(rest) > RECORD_BYTES and not rest.endswith(b"\n"):
            rest = file.readline(RECORD_BYTES + 1)
        yield line


def _chunks(numbered: Iterator[tuple[int, Archived]]) -> Iterator[list[tuple[int, Archived]]]:
    while chunk := list(islice(numbered, CHUNK)):
        yield chunk


def _read(lines: Iterable[bytes], done: Imported) -> Iterator[tuple[int, Archived]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield number, read_line(line)
        except BadRecord as error:
            done.bad[number] = str(error)


_decode = msgspec.json.Decoder(Archived).decode


def read_line(line: bytes) -> Archived:
    """The match in a line, with when it finished, or may have. Raises BadRecord for what is not one."""
    if len(line) > RECORD_BYTES:
        raise BadRecord(f"no record: it has {len(line):,} bytes, and a record at most {RECORD_BYTES:,}")
    try:
        archived = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRecord(f"no record: {error}") from None
    if not is_name(archived.match):
        raise BadRecord("`match` must be 1 to 64 printed characters")
    if not is_name(archived.game) or len(archived.event) > 128 or not archived.event.isprintable():
        raise BadRecord(
            f"match {archived.match}: `game` or `event` is too long, or has what cannot be printed"
        )
    if not all(map(is_name, (archived.players.maxie, archived.players.minnie))):
        raise BadRecord(f"match {archived.match}: a player's name must be 1 to 64 printed characters")
    try:
        replayed = verify(archived)
    except BadRecord as error:
        raise BadRecord(f"match {archived.match}: {error}") from None
    limit, game = ThinkingLimit(replayed.game), replayed.game
    moves = [
        limit.recorded(game.player(position), move)
        for position, move in zip(replayed.positions[:-1], archived.moves, strict=True)
    ]
    return structs.replace(archived, finished=_finished(archived), moves=moves)


def _finished(archived: Archived) -> str:
    """When the match finished, or, where nobody has kept that, the earliest that it can have been."""
    started = _time(archived, "started", STARTED)
    if archived.finished is not None:
        _time(archived, "finished", FINISHED)
        return archived.finished
    try:
        end = started + timedelta(milliseconds=sum(each.ms for each in archived.moves))
    except OverflowError:
        raise BadRecord(f"match {archived.match}: its moves take longer than time lasts") from None
    _require_possible(archived, "the end of its moves", end)
    return database.written(end)


def _require_possible(archived: Archived, name: str, time: datetime) -> None:
    """Raises BadRecord for a time at which nobody can have played: there was no arena, or it has not come yet."""
    latest = datetime.now(UTC) + CLOCKS_DIFFER
    if not EARLIEST <= time <= latest:
        where = f"before {EARLIEST:%Y}" if time < EARLIEST else f"after {database.written(latest)}"
        raise BadRecord(f"match {archived.match}: {name} is {where}: {database.written(time)}")


def _time(archived: Archived, name: str, form: re.Pattern[str]) -> datetime:
    text = str(getattr(archived, name))
    try:
        time = datetime.fromisoformat(text if form.fullmatch(text) else "")
    except ValueError:
        raise BadRecord(f"match {archived.match}: `{name}` is no time in UTC: {text!r:.60}") from None
    _require_possible(archived, f"`{name}`", time)
    return time


async def _add(
    connection: AsyncConnection, chunk: Sequence[tuple[int, Archived]], done: Imported, *, trust: bool
) -> None:
    names = [archived.match for _, archived in chunk]
    query = sa.select(matches.c.match, records.c.packed).where(matches.c.match.in_(names))
    query = query.outerjoin(records, records.c.number == matches.c.number)
    known: dict[str, Record | None] = {
        row.match: None if row.packed is None else from_line(record_in(row.packed))
        for row in (await connection.execute(query)).all()
    }
    rows: list[dict[str, Any]] = []
    packed: list[dict[str, Any]] = []
    for number, archived in chunk:
        record = _record(archived)
        if archived.match not in known:
            rows.append(_row(archived, record, trust=trust))
            whole = pack_whole(Whole(to_line(record), _terms(record), []))
            packed.append({"which": record.match, "packed": whole, "whole": True})
            known[archived.match] = record
            done.added += 1
            continue
        kept = known[archived.match]
        if kept is None:
            done.bad[number] = f"match {archived.match} is in progress in this store"
        elif kept != record:
            done.bad[number] = f"match {archived.match} is in the store already, as another record"
        else:
            done.known += 1
    if rows:
        kind = connection.dialect.name
        await connection.execute(sa.insert(matches).values(arrival=next_arrival(kind)), rows)
        await connection.execute(keep_record(kind), packed)


def _record(archived: Archived) -> Record:
    return Record(**{name: getattr(archived, name) for name in Record.__struct_fields__})


def _terms(record: Record) -> str:
    # What the match was played under beyond its clock, a record does not tell.
    terms = {"setup": record.setup, "time_control": TimeControl.parse(record.time_control)}
    return msgspec.json.encode(terms).decode()


def _row(archived: Archived, record: Record, *, trust: bool) -> dict[str, Any]:
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
    } | shown_of(record)
