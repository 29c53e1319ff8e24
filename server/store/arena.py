"""What the servers of an arena know of each other by the store: who lives, who takes over from whom, and who holds an
office. Where each bot is connected is in `server.store.presences`.

Whoever changes something here does so in a transaction that requires its own lease, so of two servers that want the same
one wins, and one that was taken for dead changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store import database
from arena.server.store.journal.rows import chunks
from arena.server.store.lease import Lease, database_time, holds, renew, require
from arena.server.store.schema import matches, offices, servers

MATCHMAKER = "matchmaker"
"""The office of whoever matches the bots of an arena."""
OFFICE_SECONDS = 1.2
"""For how long an office is held without being renewed."""
BUS_SECONDS = 2.0
"""For how long what a server says of its bus holds."""
FORGOTTEN_SECONDS = 86_400.0
"""How long a server that has ended is remembered: no process stands still for so long and goes on."""


class Neighbour(NamedTuple):
    """A server of the arena, as its row says."""

    name: str
    number: int
    lives: bool
    """Whether its lease holds, as far as can be seen from here."""
    hears: bool
    """Whether it has said of late that it hears the others."""


class Office(NamedTuple):
    """Who holds an office."""

    term: int
    server: str
    number: int


class Look(NamedTuple):
    """What a look at the arena finds."""

    neighbours: list[Neighbour]
    """All servers of the arena whose matches nobody has taken over, the one that looks too."""
    office: Office


def look(connection: sa.Connection, lease: Lease, *, runs: bool, hears: bool) -> Look:
    """Look at the arena in a transaction of the writer's, and say how this server does. Raises LeaseLost.

    runs   whether this server takes the office of the matchmaker where nobody holds it
    hears  whether this server hears the others by the bus
    """
    until = database_time(connection.dialect.name) + BUS_SECONDS if hears else sa.literal(0.0)
    renew(connection, lease, bus=until)
    neighbours = _neighbours(connection)
    return Look(neighbours, _office(connection, lease, neighbours, runs=runs))


def _neighbours(connection: sa.Connection) -> list[Neighbour]:
    query = sa.select(servers, database_time(connection.dialect.name).label("at")).where(
        servers.c.arena, servers.c.until >= 0
    )
    return [
        Neighbour(
            row.name,
            row.number,
            holds(row),
            row.at < row.bus,
        )
        for row in connection.execute(query.order_by(servers.c.name))
    ]


def _office(connection: sa.Connection, lease: Lease, neighbours: list[Neighbour], *, runs: bool) -> Office:
    kind = connection.dialect.name
    nobody = {"office": MATCHMAKER, "term": 0, "server": "", "number": 0, "until": 0.0}
    its = offices.c.office == MATCHMAKER
    query = sa.select(offices, database_time(kind).label("at")).where(its)
    row = connection.execute(query).one_or_none()
    if row is None:
        connection.execute(database.insert(kind, offices).on_conflict_do_nothing(), nobody)
        row = connection.execute(query).one()
    mine = (row.server, row.number) == (lease.name, lease.number)
    held = row.at < row.until and any(
        each.lives and (each.name, each.number) == (row.server, row.number) for each in neighbours
    )
    if mine and not runs:
        connection.execute(sa.update(offices).where(its, offices.c.term == row.term).values(until=0.0))
        return Office(row.term, "", 0)
    if not runs or (held and not mine):
        return Office(row.term, row.server if held else "", row.number if held else 0)
    term = row.term if mine and held else row.term + 1
    taken = {
        "term": term,
        "server": lease.name,
        "number": lease.number,
        "until": database_time(kind) + OFFICE_SECONDS,
    }
    # Of two that find it free at the same time one changes the row that both have seen.
    changed = connection.execute(sa.update(offices).where(its, offices.c.term == row.term).values(taken))
    return Office(term, lease.name, lease.number) if changed.rowcount else Office(row.term, "", 0)


def take_over(connection: sa.Connection, lease: Lease, *, dead: str, number: int) -> list[str] | None:
    """Take the matches in progress of a server whose lease has run out; None where it lives, or another was faster.

    Its number grows, so it writes nothing from now on. Raises LeaseLost.
    """
    require(connection, lease)
    query = sa.select(servers, database_time(connection.dialect.name).label("at"))
    query = query.where(servers.c.name == dead, servers.c.number == number, servers.c.until >= 0)
    row = connection.execute(query.with_for_update()).one_or_none()
    if row is None or holds(row):
        return None
    values = {"number": number + 1, "until": -1.0}
    connection.execute(sa.update(servers).where(servers.c.name == dead).values(values))
    theirs = (matches.c.server == dead) & matches.c.finished.is_(None)
    taken = list(connection.execute(sa.select(matches.c.match).where(theirs)).scalars())
    connection.execute(sa.update(matches).where(theirs).values(server=lease.name))
    long_ago = database_time(connection.dialect.name) - FORGOTTEN_SECONDS
    connection.execute(
        sa.delete(servers).where(servers.c.arena, servers.c.until < 0, servers.c.renewed < long_ago)
    )
    return taken


async def whereabouts(engine: AsyncEngine, wanted: Collection[str]) -> dict[str, str | None]:
    """By match in the store, the server that plays it; None for one that is over."""
    found: dict[str, str | None] = {}
    async with database.reading(engine) as connection:
        for some in chunks(wanted):
            query = sa.select(matches.c.match, matches.c.server, matches.c.finished)
            for row in await connection.execute(query.where(matches.c.match.in_(some))):
                found[row.match] = row.server if row.finished is None else None
    return found
