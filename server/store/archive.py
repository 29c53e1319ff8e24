"""Records out of a store and into one, as lines of JSON.

A line is a record (`protocol.record`) and, beside it, when the match finished and whether it is rated; a
line without these two, as a ladder writes it, is as good. Nothing goes in that the rules do not bear out.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import structs
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from match.replay import verify
from match.thinking import ThinkingLimit
from protocol.record import RECORD_BYTES, BadRecord, Record, from_line, to_line
from protocol.timecontrol import TimeControl
from server.store import database
from server.store.schema import matches
from server.store.tokens import is_name

CHUNK = 100
"""Records that are written in one transaction."""

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
    """The finished matches as lines, in the order of finishing, as they are at the beginning."""
    query = sa.select(matches.c.record, matches.c.finished, matches.c.rated).where(
        matches.c.record.is_not(None)
    )
    if event is not None:
        query = query.where(matches.c.event == event)
    async with database.snapshot(engine) as connection:
        rows = await connection.stream(query.order_by(matches.c.finished, matches.c.match))
        async for row in rows:
            record = structs.asdict(from_line(row.record))
            archived = Archived(**record, finished=row.finished, rated=row.rated)
            yield msgspec.json.encode(archived).decode()


async def import_lines(engine: AsyncEngine, lines: Iterable[bytes]) -> Imported:
    """Put the matches of these lines into the store. Bad lines are left out; the others go in."""
    done = Imported()
    for chunk in _chunks(_read(lines, done)):
        async with database.exclusive(engine) as connection:
            await _add(connection, chunk, done)
    return done


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


def read_line(line: bytes) -> Archived:
    """The match in a line, with when it finished, or may have. Raises BadRecord for what is not one."""
    if len(line) > RECORD_BYTES:
        raise BadRecord(f"no record: it has {len(line):,} bytes, and a record at most {RECORD_BYTES:,}")
    try:
        archived = msgspec.json.decode(line, type=Archived)
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
    return end.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _time(archived: Archived, name: str, form: re.Pattern[str]) -> datetime:
    text = str(getattr(archived, name))
    try:
        return datetime.fromisoformat(text if form.fullmatch(text) else "")
    except ValueError:
        raise BadRecord(f"match {archived.match}: `{name}` is no time in UTC: {text!r:.60}") from None


async def _add(connection: AsyncConnection, chunk: Sequence[tuple[int, Archived]], done: Imported) -> None:
    names = [archived.match for _, archived in chunk]
    query = sa.select(matches.c.match, matches.c.record).where(matches.c.match.in_(names))
    known: dict[str, str | None] = {row.match: row.record for row in (await connection.execute(query)).all()}
    rows: list[dict[str, Any]] = []
    for number, archived in chunk:
        record = _record(archived)
        if archived.match not in known:
            rows.append(_row(archived, record))
            known[archived.match] = rows[-1]["record"]
            done.added += 1
            continue
        kept = known[archived.match]
        if kept is None:
            done.bad[number] = f"match {archived.match} is in progress in this store"
        elif from_line(kept) != record:
            done.bad[number] = f"match {archived.match} is in the store already, as another record"
        else:
            done.known += 1
    if rows:
        await connection.execute(sa.insert(matches), rows)


def _record(archived: Archived) -> Record:
    return Record(**{name: getattr(archived, name) for name in Record.__struct_fields__})


def _row(archived: Archived, record: Record) -> dict[str, Any]:
    # What the match was played under beyond its clock, a record does not tell.
    terms = {"setup": record.setup, "time_control": TimeControl.parse(record.time_control)}
    return {
        "match": record.match,
        "event": record.event,
        "game": record.game,
        "maxie": record.players.maxie,
        "minnie": record.players.minnie,
        "terms": msgspec.json.encode(terms).decode(),
        "started": record.started,
        "record": to_line(record),
        "rated": archived.rated,
        "finished": archived.finished,
    }
