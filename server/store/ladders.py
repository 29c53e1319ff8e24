"""A ladder in the store: what it was begun with, what it has played, and who plays it now.

A ladder that was killed left matches without a record. They are taken out and played again: bots that a
ladder starts die with it, so nobody is there who could go on with them.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import AsyncIterator, Container, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from protocol.record import Record, from_line
from server.store import database, schema
from server.store.journal.batches import forget

Plan = Mapping[str, Any]
"""What decides who plays whom on what, as plain data: its keys are the words in which people speak of it."""


CHUNK = 500
"""Matches that are asked for in one query."""


class CannotResume(Exception):
    """The store has the event, but it cannot go on: one line that says why."""


@dataclass(frozen=True)
class Kept:
    """A ladder as the store has it."""

    event: str
    uid: UUID
    plan: dict[str, Any]
    started: str
    finished: str | None
    done: dict[str, Record]
    """Its finished matches by id, in the order of finishing."""
    seconds: float = 0.0
    """For how long it has been played."""


@asynccontextmanager
async def claimed(
    engine: AsyncEngine, kind: str, event: str | None, auto: str, plan: Plan
) -> AsyncIterator[Kept]:
    """Begin a ladder, or go on with it, and keep others from playing it meanwhile.

    event  its name, or None for the last one of this kind that has no name and is not over; where there
           is none, a new one called `auto`

    What a killed ladder left unfinished is taken out. Raises CannotResume for another plan, or where
    somebody plays it now.
    """
    wanted = json.loads(json.dumps(plan))
    row = await _find(engine, kind, event)
    name = row.event if row is not None else event or auto
    async with _held(engine, name):
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
    """Note who plays, where that is known only when they are there."""
    async with database.exclusive(engine) as connection:
        mine = schema.ladders.c.event == event
        row = (await connection.execute(sa.select(schema.ladders.c.plan).where(mine))).scalar_one()
        plan = json.dumps({**json.loads(row), "bots": dict.fromkeys(bots, "")})
        await connection.execute(sa.update(schema.ladders).where(mine).values(plan=plan))


async def finish(engine: AsyncEngine, event: str) -> None:
    """The ladder is over."""
    async with database.exclusive(engine) as connection:
        await _discard_unfinished(connection, event)
        mine = (schema.ladders.c.event == event) & schema.ladders.c.finished.is_(None)
        await connection.execute(sa.update(schema.ladders).where(mine).values(finished=database.now()))


async def read(engine: AsyncEngine, event: str | None = None) -> Kept | None:
    """A ladder and its finished matches; without a name, the one that was begun last. None if there is none."""
    query = sa.select(schema.ladders).order_by(schema.ladders.c.started.desc()).limit(1)
    if event is not None:
        query = query.where(schema.ladders.c.event == event)
    matches = schema.matches
    async with database.reading(engine) as connection:
        row = (await connection.execute(query)).one_or_none()
        if row is None:
            return None
        mine = (matches.c.event == row.event) & matches.c.record.is_not(None)
        finished = sa.select(matches.c.match, matches.c.record, matches.c.finished).where(mine)
        rows = (await connection.execute(finished.order_by(matches.c.finished, matches.c.match))).all()
    done = {each.match: from_line(each.record) for each in rows}
    seconds = _covered([(_time(done[each.match].started), _time(each.finished)) for each in rows])
    plan = json.loads(row.plan)
    return Kept(row.event, UUID(row.uid), plan, row.started, row.finished, done, seconds)


@dataclass(frozen=True)
class News:
    """What has happened in a ladder since it was looked at."""

    plan: dict[str, Any]
    over: bool
    ended: dict[str, Record]
    """Finished matches by id, in the order of finishing."""
    latest: str
    """When the last one finished, for the next look; what it was looked for from, where there is none."""


async def news(engine: AsyncEngine, event: str, since: str, seen: Container[str]) -> News:
    """The matches that finished at `since` or later (as `database.now` writes it), less those that were seen.

    A match is written shortly after it was stamped, so look from a little before the last one that was seen.
    """
    matches = schema.matches
    about = sa.select(schema.ladders.c.plan, schema.ladders.c.finished).where(schema.ladders.c.event == event)
    mine = (matches.c.event == event) & (matches.c.finished >= since)
    listed = sa.select(matches.c.match, matches.c.finished).where(mine)
    async with database.reading(engine) as connection:
        # Asked first: what ended before the ladder did is then there.
        row = (await connection.execute(about)).one()
        rows = (await connection.execute(listed.order_by(matches.c.finished, matches.c.match))).all()
        new = [each.match for each in rows if each.match not in seen]
        found: dict[str, str] = {}
        for start in range(0, len(new), CHUNK):
            some = sa.select(matches.c.match, matches.c.record).where(
                matches.c.match.in_(new[start : start + CHUNK])
            )
            found |= {each.match: each.record for each in (await connection.execute(some)).all()}
    latest = rows[-1].finished if rows else since
    ended = {match: from_line(found[match]) for match in new}
    return News(json.loads(row.plan), row.finished is not None, ended, latest)


def digest(data: object) -> str:
    """A short mark of plain data, that differs where the data do."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12]


def _time(text: str | None) -> float:
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
    mine = (matches.c.event == event) & matches.c.record.is_(None)
    ids = sa.select(matches.c.match).where(mine)
    gone = set((await connection.execute(ids)).scalars())
    if not gone:
        return
    # Played again, they have the same ids: nothing of before may be left anywhere.
    await connection.run_sync(forget, gone)
    await connection.execute(sa.delete(schema.events).where(schema.events.c.match.in_(ids)))
    await connection.execute(sa.delete(matches).where(mine))


@asynccontextmanager
async def _held(engine: AsyncEngine, event: str) -> AsyncIterator[None]:
    """Nobody else plays this event as long as the block lasts. Whoever dies in it, however, lets go."""
    if engine.dialect.name == "sqlite":
        with _lock_file(Path(f"{engine.url.database}-ladder-{digest(event)}.lock"), event):
            yield
        return
    key = int.from_bytes(hashlib.sha256(f"ladder {event}".encode()).digest()[:8], signed=True)
    async with engine.connect() as connection:
        got = (await connection.execute(sa.select(sa.func.pg_try_advisory_lock(key)))).scalar_one()
        await connection.commit()
        if not got:
            raise _taken(event)
        try:
            yield
        finally:
            await connection.execute(sa.select(sa.func.pg_advisory_unlock(key)))
            await connection.commit()


@contextmanager
def _lock_file(path: Path, event: str) -> Iterator[None]:
    # The file stays: who took it away could take it from under somebody who has just locked it.
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _taken(event) from None
        yield


def _taken(event: str) -> CannotResume:
    return CannotResume(f"event {event} is being played by another process: wait for it, or --watch it")
