"""Days on which each bot played from an IP address, to find bots of different owners at one address.

An address itself is never stored, only a keyed hash of it. Only the server process knows the key, and replaces it each
day. So a hash can be compared only with others of the same day and process, and nobody can recover an address later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from itertools import combinations

import sqlalchemy as sa
from msgspec import Struct, field, to_builtins

from arena.server.store import database
from arena.server.store.database import Engine
from arena.server.store.schema import addresses, tokens

ADDRESS_RETENTION_DAYS = 30
"""Number of days for which an `AddressUse` stays in the store."""
MAX_OWNERS_AT_SHARED_ADDRESS = 3
"""Largest number of owners whose use of one address on a day is suspicious.

More owners suggest a shared network, such as a university's.
"""


class AddressUse(Struct, frozen=True):
    """Use of an IP address by a bot on one day."""

    bot_name: str = field(name="name")
    """Name of the bot."""
    utc_day: str = field(name="day")
    """Date in UTC, as YYYY-MM-DD."""
    address_hash: str = field(name="hash")
    """HMAC-SHA256 of the address, in hexadecimal, with the key of the server process for this day."""


def store_address_uses(connection: sa.Connection, address_uses: Iterable[AddressUse]) -> None:
    """Store which bots used which addresses, in the caller's transaction.

    Uses that are already stored are skipped, and so are uses by bots without a valid token.
    """
    # no token may be deleted between its check below and the insert
    database.lock_store_exclusively(connection)
    insert = database.make_insert(connection.dialect.name, addresses).on_conflict_do_nothing()
    for chunk in database.split_into_chunks(address_uses):
        names = {use.bot_name for use in chunk}
        query = sa.select(tokens.c.name).where(tokens.c.name.in_(names), tokens.c.revoked.is_(None))
        names_with_token = set(connection.execute(query).scalars())
        rows = [to_builtins(use) for use in chunk if use.bot_name in names_with_token]
        if rows:
            connection.execute(insert, rows)


def remove_expired_bot_addresses(connection: sa.Connection) -> None:
    """Delete the address uses that are older than ADDRESS_RETENTION_DAYS, in the caller's transaction."""
    first_day = database.format_current_time(-timedelta(days=ADDRESS_RETENTION_DAYS))[:10]
    connection.execute(sa.delete(addresses).where(addresses.c.day < first_day))


async def find_days_with_shared_address(engine: Engine) -> dict[tuple[str, str], list[str]]:
    """Return, for each pair of bots of different owners, the days on which both used the same address.

    The key is the pair's names, sorted. The days are texts such as `2026-01-31`, in ascending order. If bots of more
    than MAX_OWNERS_AT_SHARED_ADDRESS owners used an address on a day, the address is ignored on that day.
    """
    query = sa.select(addresses.c.day, addresses.c.hash, addresses.c.name, tokens.c.owner)
    query = query.join(tokens, tokens.c.name == addresses.c.name)
    return _group_days_by_bot_pair(await database.fetch(engine, query))


def _group_days_by_bot_pair(rows: Iterable[tuple[str, str, str, str]]) -> dict[tuple[str, str], list[str]]:
    """Return the days on which two bots of different owners used one address, as `find_days_with_shared_address` does.

    rows: address uses, each with its day, the hash of the address, and the names of the bot and its owner
    """
    owners: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for day, address, name, owner in rows:
        owners[day, address][name] = owner
    days: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for (day, _), bots in owners.items():
        if len(set(bots.values())) <= MAX_OWNERS_AT_SHARED_ADDRESS:
            for bot_a, bot_b in combinations(sorted(bots), 2):
                if bots[bot_a] != bots[bot_b]:
                    days[bot_a, bot_b].add(day)
    return {pair: sorted(shared_days) for pair, shared_days in sorted(days.items())}
