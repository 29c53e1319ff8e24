"""Days on which a bot played from an address, without the address.

A row holds a hash of the address with a key that only the server process knows, and replaces each day. So hashes of one
day and process can be compared with each other and nothing else, and the addresses can no longer be found from them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import combinations

import sqlalchemy as sa
from msgspec import Struct

from arena.server.store import database
from arena.server.store.database import Engine
from arena.server.store.schema import addresses, tokens

RETENTION_DAYS = 30
"""Number of days after which a row is deleted."""
MAX_OWNERS = 3
"""Maximum number of owners at an address that says something. A school or a provider has more."""


class AddressUse(Struct, frozen=True):
    """Bot that played from an address."""

    name: str
    day: str
    """Date, in UTC."""
    hash: str


def store_address_uses(connection: sa.Connection, rows: Iterable[AddressUse]) -> None:
    """Store rows of bots that have a token. Rows that are stored already stay."""
    database.lock_exclusively(connection)  # a bot that is forgotten meanwhile has no token afterwards
    insert = database.make_insert(connection.dialect.name, addresses).on_conflict_do_nothing()
    for some in database.split_into_chunks(rows):
        names = {each.name for each in some}
        query = sa.select(tokens.c.name).where(tokens.c.name.in_(names), tokens.c.revoked.is_(None))
        known = set(connection.execute(query).scalars())
        values = [
            {"name": each.name, "day": each.day, "hash": each.hash} for each in some if each.name in known
        ]
        if values:
            connection.execute(insert, values)


def remove_old_rows(connection: sa.Connection) -> None:
    """Delete the rows of days that are over for RETENTION_DAYS."""
    first = database.format_timestamp(datetime.now(UTC) - timedelta(days=RETENTION_DAYS))[:10]
    connection.execute(sa.delete(addresses).where(addresses.c.day < first))


async def find_shared_days(engine: Engine) -> dict[tuple[str, str], list[str]]:
    """Return the days on which two bots of different owners played from the same address, by their sorted names.

    Addresses of more than MAX_OWNERS owners are left out.
    """
    query = sa.select(addresses.c.day, addresses.c.hash, addresses.c.name, tokens.c.owner)
    query = query.join(tokens, tokens.c.name == addresses.c.name)
    async with database.open_query_connection(engine) as connection:
        return _group_shared_days(
            (row.day, row.hash, row.name, row.owner) for row in await connection.execute(query)
        )


def _group_shared_days(rows: Iterable[tuple[str, str, str, str]]) -> dict[tuple[str, str], list[str]]:
    """Return the same as `shared`, from rows of day, hash, name and owner."""
    owners: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for day, address, name, owner in rows:
        owners[day, address][name] = owner
    days: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for (day, _), bots in owners.items():
        if len(set(bots.values())) <= MAX_OWNERS:
            for one, other in combinations(sorted(bots), 2):
                if bots[one] != bots[other]:
                    days[one, other].add(day)
    return {pair: sorted(found) for pair, found in sorted(days.items())}
