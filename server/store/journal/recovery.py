"""What a server finds in the store when it is back: its matches in progress, and the sessions of their bots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.games.core import GameError
from arena.match.events import Timed
from arena.match.terms import Terms, from_json
from arena.server.store import database, schema
from arena.server.store.journal.reader import events_of_all


@dataclass(frozen=True)
class Unfinished:
    """A match that was in progress when its server went away, as the journal has it."""

    terms: Terms
    started: str
    events: Sequence[Timed]


async def unfinished(engine: AsyncEngine, event: str, server: str = "") -> list[Unfinished]:
    """The matches of an event that the server of that name began and that have no record.

    They were in progress when it went away. Those of other servers of the same store are going on there.
    Raises StoreError where one is of a game that is not known here.
    """
    table = schema.matches
    mine = (table.c.event == event) & (table.c.server == server)
    query = sa.select(table).where(mine, table.c.finished.is_(None)).order_by(table.c.started)
    async with database.reading(engine) as connection:
        rows = (await connection.execute(query)).all()
        happened = await events_of_all(connection, [row.match for row in rows])
    try:
        return [Unfinished(from_json(row.terms), row.started, happened.get(row.match, [])) for row in rows]
    except GameError as error:
        raise database.StoreError(f"a match in progress cannot go on: {error}") from None


async def kept_sessions(engine: AsyncEngine, names: Sequence[str], server: str = "") -> dict[str, bytes]:
    """The hashes of these bots' session secrets on the server of that name, where they are known."""
    table = schema.sessions
    query = sa.select(table).where(table.c.server == server, table.c.name.in_(names))
    async with database.reading(engine) as connection:
        rows = (await connection.execute(query)).all()
    return {row.name: bytes.fromhex(row.hash) for row in rows}
