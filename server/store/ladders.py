"""A ladder in the store: what it was begun with, what it has played, and who plays it now.

A ladder that was killed left matches without a record. They are taken out and played again: bots that a
ladder starts die with it, so nobody is there who could go on with them.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Container, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.protocol.record import Record, from_line
from arena.server.store import database, schema
from arena.server.store.ladder_lock import CannotResume, locked
from arena.server.store.packing import record_in

Plan = Mapping[str, Any]
"""What decides who plays whom on what, as plain data: its keys are the words in which people speak of it."""


CHUNK = 500
"""How many matches one query asks for, at the most."""


@dataclass(frozen=True)
class StoredLadder:
    """A ladder as the store has it: what it was begun with, and its finished matches."""

    event: str
    uid: UUID
    plan: dict[str, Any]
    started: str
    finished: str | None
    done: dict[str, Record]
    """Its finished matches by id, in the order of finishing."""
    seconds: float = 0.0
    """For how many seconds it has been played."""


@asynccontextmanager
async def claimed(
    engine: AsyncEngine, kind: str, event: str | None, auto: str, plan: Plan
) -> AsyncIterator[StoredLadder]:
    """Begin a ladder, or go on with it, and keep others from playing it meanwhile.

    kind   the command that plays it: `ladder` or `match`
    event  its name, or None for the last one of this kind that has no name and is not over; where there
           is none, a new one called `auto`

    What a killed ladder left unfinished is taken out. Raises CannotResume for another plan, or where
    another process plays the event now.
    """
    wanted = json.loads(json.dumps(plan))
    row = await _find(engine, kind, event)
    name = row.event if row is not None else event or auto
    async with locked(engine, name):
        async with database.exclusive(engine) as connection:
            if row is None:
                await connection.execute(
                    sa.insert(schema.ladders).values(
                        event=name,
                        uid=uuid4().hex,
                        kind=kind,
                        named=event is not None,
                        plan=json.dumps(wanted),
                        started=database.now(),
                    )
                )
            else:
                _compare(name, json.loads(row.plan), wanted, named=event is not None)
            await _discard_unfinished(connection, name)
        kept = await read(engine, name)
        if kept is None:
            raise CannotResume(f"event {name} has gone from the store")
        yield kept


async def set_bots(engine: AsyncEngine, event: str, bots: list[str]) -> None:
    """Note which bots play, where that is known only once they have connected."""
    async with database.exclusive(engine) as connection:
        mine = schema.ladders.c.event == event
        row = (await connection.execute(sa.select(schema.ladders.c.plan).where(mine))).scalar_one()
        plan = json.dumps({**json.loads(row), "bots": dict.fromkeys(bots, "")})
        await connection.execute(sa.update(schema.ladders).where(mine).values(plan=plan))


async def finish(engine: AsyncEngine, event: str) -> None:
    """Note that the ladder is over, and take out what was left unfinished."""
    async with database.exclusive(engine) as connection:
        await _discard_unfinished(connection, event)
        mine = (schema.ladders.c.event == event) & schema.ladders.c.finished.is_(None)
        await connection.execute(sa.update(schema.ladders).where(mine).values(finished=database.now()))


async def read(engine: AsyncEngine, event: str | None = None) -> StoredLadder | None:
    """A ladder and its finished matches; without a name, the one that was begun last. None if there is none."""
    query = sa.select(schema.ladders).order_by(schema.ladders.c.started.desc()).limit(1)
    if event is not None:
        query = query.where(schema.ladders.c.event == event)
    matches, records = schema.matches, schema.records
    async with database.reading(engine) as connection:
        row = (await connection.execute(query)).one_or_none()
        if row is None:
            return None
        mine = (matches.c.event == row.event) & matches.c.finished.is_not(None)
        finished = sa.select(matches.c.match, records.c.packed, matches.c.finished).where(mine)
        finished = finished.join(records, records.c.number == matches.c.number)
        rows = (await connection.execute(finished.order_by(matches.c.finished, matches.c.number))).all()
    done = {each.match: from_line(record_in(each.packed)) for each in rows}
    seconds = _covered([(_time(done[each.match].started), _time(each.finished)) for each in rows])
    plan = json.loads(row.plan)
    return StoredLadder(row.event, UUID(row.uid), plan, row.started, row.finished, done, seconds)


@dataclass(frozen=True)
class LadderPlanned:
    """What a ladder was begun with, and whether it is over."""

    kind: str
    plan: dict[str, Any]
    started: str
    finished: str | None


async def planned(engine: AsyncEngine, event: str) -> LadderPlanned | None:
    """What is known of a ladder beside its matches; None where there is none of this name."""
    table = schema.ladders.c
    query = sa.select(table.kind, table.plan, table.started, table.finished).where(table.event == event)
    async with database.reading(engine) as connection:
        row = (await connection.execute(query)).one_or_none()
    return None if row is None else LadderPlanned(row.kind, json.loads(row.plan), row.started, row.finished)


@dataclass(frozen=True)
class LadderChanges:
    """What has changed in a ladder since it was last read."""

    plan: dict[str, Any]
    over: bool
    ended: dict[str, Record]
    """Finished matches by id, in the order of finishing."""
    latest: str
    """When the last of these matches finished; the `since` of the query where there is none."""


async def changes(engine: AsyncEngine, event: str, since: str, seen: Container[str]) -> LadderChanges:
    """The matches that finished at `since` or later (as `database.now` writes it), less those that were seen.

    A match is written shortly after it was stamped, so `since` must be a little before the last match seen.
    """
    matches, records = schema.matches, schema.records
    about = sa.select(schema.ladders.c.plan, schema.ladders.c.finished).where(schema.ladders.c.event == event)
    mine = (matches.c.event == event) & (matches.c.finished >= since)
    listed = sa.select(matches.c.match, matches.c.finished).where(mine)
    async with database.reading(engine) as connection:
        # The ladder is read first: then all matches that ended before it did are found.
        row = (await connection.execute(about)).one()
        rows = (await connection.execute(listed.order_by(matches.c.finished, matches.c.number))).all()
        new = [each.match for each in rows if each.match not in seen]
        found: dict[str, str] = {}
        for start in range(0, len(new), CHUNK):
            some = sa.select(matches.c.match, records.c.packed).where(
                matches.c.match.in_(new[start : start + CHUNK])
            )
            some = some.join(records, records.c.number == matches.c.number)
            found |= {each.match: record_in(each.packed) for each in (await connection.execute(some)).all()}
    latest = rows[-1].finished if rows else since
    ended = {match: from_line(found[match]) for match in new}
    return LadderChanges(json.loads(row.plan), row.finished is not None, ended, latest)


def _time(text: str | None) -> float:
    """Seconds of a time as the store writes it; 0 where there is none."""
    return datetime.fromisoformat(text).timestamp() if text else 0.0


def _covered(spans: list[tuple[float, float]]) -> float:
    """For how many seconds at least one of the spans ran."""
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


async def _find(engine: AsyncEngine, kind: str, event: str | None) -> sa.Row[Any] | None:
    table = schema.ladders
    if event is not None:
        mine = table.c.event == event
    else:
        mine = (table.c.kind == kind) & ~table.c.named & table.c.finished.is_(None)
    query = sa.select(table).where(mine).order_by(table.c.started.desc()).limit(1)
    async with database.reading(engine) as connection:
        return (await connection.execute(query)).one_or_none()


def _compare(event: str, kept: Plan, wanted: Plan, *, named: bool) -> None:
    known = [key for key in (*kept, *wanted) if not (key == "bots" and not wanted.get("bots"))]
    differ = [key for key in dict.fromkeys(known) if json.dumps(kept.get(key)) != json.dumps(wanted.get(key))]
    if not differ:
        return
    how = ", ".join(f"{key} was {_shown(kept.get(key))}, now {_shown(wanted.get(key))}" for key in differ)
    hint = "give it another name" if named else "finish it with its own plan, or name a new one with --event"
    raise CannotResume(f"event {event} was begun with another plan: {how}; {hint}")


def _shown(value: object) -> str:
    if isinstance(value, dict):
        value = [f"{key} = {what}" if what else key for key, what in value.items()]
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


async def _discard_unfinished(connection: AsyncConnection, event: str) -> None:
    matches = schema.matches
    mine = (matches.c.event == event) & matches.c.finished.is_(None)
    numbers = sa.select(matches.c.number).where(mine)
    # A match that is played again has the same id, so no event of the first try may be left.
    await connection.execute(sa.delete(schema.events).where(schema.events.c.number.in_(numbers)))
    await connection.execute(sa.delete(matches).where(mine))
