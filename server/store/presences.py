"""Where each bot of an arena is connected, or was, by its name in the store.

Those that come in at the same time are let in by one transaction, whose statements are as many for a thousand as for one.
It requires the server's own lease, and takes the rows in the order of their names, so that two servers which want the same
ones wait for each other and never for ever.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.processes.identity import is_gone
from arena.server.store import database
from arena.server.store.journal.rows import chunks
from arena.server.store.lease import Lease, database_time, holder, require
from arena.server.store.schema import presences, servers


class Presence(NamedTuple):
    """Where a bot is connected, or was."""

    hash: bytes
    entry: int
    session: int
    server: str
    """Empty where it is not connected, also because its server has ended."""


class Claim(NamedTuple):
    """A bot that comes in."""

    secret: bytes
    """The hash of its session's secret."""
    returns: bool
    """Whether that is the session that it had; else it is a new one."""


async def recall(engine: AsyncEngine, names: Collection[str]) -> dict[str, Presence]:
    """Where bots are connected, or were; names that never were in the arena are left out."""
    async with database.reading(engine) as connection:
        return await connection.run_sync(_recall, names)


def _recall(connection: sa.Connection, names: Iterable[str]) -> dict[str, Presence]:
    now = database_time(connection.dialect.name)
    lives = (
        (servers.c.name == presences.c.server)
        & (servers.c.number == presences.c.number)
        & (servers.c.until > now)
    )
    place = (servers.c.host, servers.c.pid, servers.c.place, servers.c.started)
    query = sa.select(presences, *place).select_from(presences.outerjoin(servers, lives))
    found = {}
    for some in chunks(names):
        for row in connection.execute(query.where(presences.c.name.in_(some))):
            here = row.pid is not None and not is_gone(holder(row))
            server = row.server if here else ""
            found[row.name] = Presence(bytes.fromhex(row.hash), row.entry, row.session, server)
    return found


def claim(connection: sa.Connection, lease: Lease, claims: Mapping[str, Claim]) -> dict[str, Presence]:
    """Let bots in on this server by their names, in a transaction of the writer's.

    Left out is whom another server has let in, or given another session. Raises LeaseLost.
    """
    require(connection, lease)
    kind = connection.dialect.name
    names = sorted(claims)
    # The order of Python, which is not that of every language: a crowd is claimed in parts.
    ordered = presences.c.name.collate("C") if kind == "postgresql" else presences.c.name
    nobody = {"hash": "", "entry": 0, "session": 0, "server": "", "number": 0}
    for some in chunks(names):
        given = [{"name": name, **nobody} for name in some]
        connection.execute(database.insert(kind, presences).on_conflict_do_nothing(), given)
        # Two that claim one name wait for each other here.
        theirs = sa.select(presences.c.name).where(presences.c.name.in_(some))
        connection.execute(theirs.order_by(ordered).with_for_update()).all()
    let_in = {
        name: Presence(
            each.secret, known.entry + 1, known.session if each.returns else known.entry + 1, lease.name
        )
        for name, known in _recall(connection, names).items()
        if _may_come_in(each := claims[name], known, lease.name)
    }
    if let_in:
        changed = (
            sa.update(presences)
            .where(presences.c.name == sa.bindparam("which"))
            .values(server=lease.name, number=lease.number)
        )
        rows = [
            {"which": name, "hash": each.hash.hex(), "entry": each.entry, "session": each.session}
            for name, each in let_in.items()
        ]
        connection.execute(changed, rows)
    return let_in


def _may_come_in(claim: Claim, known: Presence, server: str) -> bool:
    return known.hash == claim.secret if claim.returns else known.server in ("", server)


def release(connection: sa.Connection, entries: Mapping[str, int]) -> None:
    """By name, a bot's connection of that number has ended; nothing happens where it has another already."""
    its = (presences.c.name == sa.bindparam("which")) & (presences.c.entry == sa.bindparam("ended"))
    rows = [{"which": name, "ended": entries[name]} for name in sorted(entries)]
    connection.execute(sa.update(presences).where(its).values(server="", number=0), rows)
