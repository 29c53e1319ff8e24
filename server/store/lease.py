"""The lease of a server on its name: one process at a time writes the matches of a name.

Whoever takes a name gets a number, one higher than the holder before it had. The holder renews its lease as long
as it runs, and gives it back when it stops. Every transaction of the journal asks for the number first and keeps it
from being changed until the commit, and every statement that writes carries it: a holder that was taken for dead, and is
not, finds its number old, and nothing that it writes gets into the store.

Times are those of the database: PostgreSQL's own clock, and with SQLite that of the machine.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from functools import lru_cache, partial
from time import monotonic
from typing import Any, NamedTuple

import anyio
import sqlalchemy as sa

from arena.server.processes.identity import Process, is_gone, this_process
from arena.server.store.database import StoreError, insert
from arena.server.store.journal.writer import Writer
from arena.server.store.schema import servers
from arena.server.store.sqlite import first_row

log = logging.getLogger("arena.lease")

LEASE_SECONDS = 10.0
"""For how long a name is held without being renewed."""
RENEWALS = 3
"""How often a lease is renewed in the time for which it is held."""
ARENA_SECONDS = 2.4
"""For how long the name of a server of an arena is held: others take its matches over within seconds."""
LOOK_SECONDS = 0.5
"""From one look at a name that somebody holds to the next."""


class Lease(NamedTuple):
    """What a holder has."""

    name: str
    number: int
    seconds: float = LEASE_SECONDS
    """For how long it holds without being renewed."""
    arena: bool = False
    """Whether the holder is a server of an arena: when its lease has run out, others take its matches over."""

    @property
    def renew_seconds(self) -> float:
        """From one renewal to the next."""
        return self.seconds / RENEWALS


class NameHeld(StoreError):
    """Another process holds the name: one line that says which, and since when."""

    def __init__(self, name: str, row: sa.Row[Any]) -> None:
        """row: the name's row of `servers`, and the database's time as `at`."""
        since = datetime.fromtimestamp(row.since, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        super().__init__(
            f"{shown(name)} is running on this store already: on {row.host}, process {row.pid}, since {since};"
            f" it is free when that process has stopped, and {LEASE_SECONDS:g} s after one that was killed elsewhere"
        )
        self.name = name
        self.renewal = row.number, row.renewed
        """What changes with every renewal."""
        self.left = min(max(row.until - row.at, 0.0), LEASE_SECONDS)
        """Seconds until the lease runs out."""


class LeaseLost(StoreError):
    """Another process has taken the name: nothing may be written under the old number."""

    def __init__(self, lease: Lease) -> None:
        super().__init__(
            f"{shown(lease.name)} has been taken over by another process, as this one did not renew its lease within"
            f" {lease.seconds:g} s; its matches go on there"
        )


def holder(row: sa.Row[Any]) -> Process:
    """The process that has a name, or had it, by the name's row of `servers`."""
    return Process(row.host, row.pid, row.place, row.started)


def holds(row: sa.Row[Any]) -> bool:
    """Whether somebody has the name, as far as can be seen from here. The row has the database's time, too, as `at`."""
    return row.at < row.until and not is_gone(holder(row))


def shown(name: str) -> str:
    """A server's name in a sentence."""
    return f"the server {name!r}" if name else "the server without a name"


async def hold(writer: Writer, name: str, *, seconds: float = LEASE_SECONDS, arena: bool = False) -> Lease:
    """Take the name for so many seconds, as soon as nobody holds it any more. Raises NameHeld where its holder renews its lease.

    arena: whether it is the name of a server of an arena
    """
    process = this_process()
    first: NameHeld | None = None
    began = monotonic()
    while True:
        # Times of the database may jump; that the holder has not renewed its lease for so long is seen here.
        expired = first.renewal if first is not None and monotonic() - began >= LEASE_SECONDS else None
        try:
            return await writer.write(
                partial(take, name=name, process=process, expired=expired, seconds=seconds, arena=arena)
            )
        except NameHeld as held:
            if first is None:
                first = held
                log.warning("%s; waiting %.0f s for it to be renewed, or to run out", held, held.left)
            elif held.renewal != first.renewal:
                raise
            looked = monotonic()
            await anyio.sleep(min(LOOK_SECONDS, held.left + 0.01))
            if monotonic() - looked > 2 * LOOK_SECONDS:
                # This process stood still itself, and so may the holder have done: it gets the time to renew.
                began = monotonic()
                await anyio.sleep(LEASE_SECONDS / RENEWALS)


def take(
    connection: sa.Connection,
    *,
    name: str,
    process: Process,
    expired: tuple[int, float] | None = None,
    seconds: float = LEASE_SECONDS,
    arena: bool = False,
) -> Lease:
    """Take the name for so many seconds in a transaction of the writer's. Raises NameHeld.

    expired: the number and the renewal of a lease that has run out whatever its row says
    """
    kind = connection.dialect.name
    nobody = {
        "host": "",
        "pid": 0,
        "place": "",
        "started": "",
        "since": 0.0,
        "renewed": 0.0,
        "until": 0.0,
        "arena": False,
        "bus": 0.0,
    }
    connection.execute(insert(kind, servers).on_conflict_do_nothing(), {"name": name, "number": 0, **nobody})
    mine = servers.c.name == name
    query = sa.select(servers, database_time(kind).label("at")).where(mine).with_for_update()
    row = connection.execute(query).one()
    if (row.number, row.renewed) != expired and holds(row):
        raise NameHeld(name, row)
    now = database_time(kind)
    values = {
        "number": row.number + 1,
        "host": process.host,
        "pid": process.pid,
        "place": process.place,
        "started": process.started,
        "since": now,
        "renewed": now,
        "until": now + seconds,
        "arena": arena,
        "bus": 0.0,
    }
    connection.execute(sa.update(servers).where(mine).values(values))
    return Lease(name, row.number + 1, seconds, arena)


def renew(connection: sa.Connection, lease: Lease, **said: sa.ColumnElement[Any]) -> None:
    """Renew the lease in a transaction of the writer's; `said` is what else changes in the row. Raises LeaseLost."""
    now = database_time(connection.dialect.name)
    _change(connection, lease, {"renewed": now, "until": now + lease.seconds, **said})


def give_back(connection: sa.Connection, lease: Lease) -> None:
    """Let others have the name at once. Raises LeaseLost."""
    _change(connection, lease, {"until": 0.0})


def require(connection: sa.Connection, lease: Lease) -> None:
    """Keep the name from being taken until the end of a transaction. Raises LeaseLost."""
    if first_row(connection, _require_statement(connection.dialect), lease[:2]) is None:
        raise LeaseLost(lease)


HELD = (servers.c.name == sa.bindparam("lease_name")) & (servers.c.number == sa.bindparam("lease_number"))
"""The condition under which a statement of a holder writes anything; `parameters` gives its values."""


def parameters(lease: Lease) -> dict[str, Any]:
    """The values of HELD."""
    return {"lease_name": lease.name, "lease_number": lease.number}


def held(connection: sa.Connection) -> list[str]:
    """The names that are held now."""
    query = sa.select(servers.c.name).where(servers.c.until > database_time(connection.dialect.name))
    return list(connection.execute(query.order_by(servers.c.name)).scalars())


def require_none(connection: sa.Connection) -> None:
    """See that nobody holds any name. Raises NameHeld for the first that somebody holds."""
    now = database_time(connection.dialect.name)
    # By their names: a later version may add some that this store does not have yet.
    names = ("name", "number", "host", "pid", "place", "started", "since", "renewed", "until")
    columns: list[sa.ColumnElement[Any]] = [*(servers.c[name] for name in names), now.label("at")]
    query = sa.select(*columns).where(servers.c.until > now).order_by(servers.c.name)
    for row in connection.execute(query):
        if not is_gone(holder(row)):
            raise NameHeld(row.name, row)


def _change(connection: sa.Connection, lease: Lease, values: dict[str, Any]) -> None:
    if connection.execute(sa.update(servers).where(HELD).values(values), parameters(lease)).rowcount != 1:
        raise LeaseLost(lease)


def database_time(kind: str) -> sa.ColumnElement[float]:
    """The database's time, in seconds since 1970."""
    if kind == "postgresql":
        return sa.cast(sa.extract("epoch", sa.func.clock_timestamp()), sa.Double)
    return (sa.func.julianday("now", type_=sa.Double) - 2440587.5) * 86400.0


@lru_cache(maxsize=8)
def _require_statement(dialect: sa.Dialect) -> str:
    """The statement as text: SQLAlchemy's own way through a statement costs more than the database's."""
    query = sa.select(servers.c.number).where(
        servers.c.name == sa.bindparam("name", type_=sa.String),
        servers.c.number == sa.bindparam("number", type_=sa.Integer),
    )
    return str(query.with_for_update(read=True).compile(dialect=dialect))
