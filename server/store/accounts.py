"""Accounts: the ratings, and the hashes of the token and the session, stored for the name of a client that connects."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa
from msgspec import Struct

from arena.protocol.values import Role
from arena.rating.glicko import GlickoRating
from arena.server.store import database
from arena.server.store.aggregates.seasons import select_current_season_number
from arena.server.store.database import Engine
from arena.server.store.schema import sessions, standings, tokens


class StoredAccount(Struct):
    """Data stored for the name of a client. A field for which nothing is stored has its default."""

    token_hash: str = ""
    """SHA-256 of the token, in hexadecimal; empty if the name has no token."""
    role: Role = "bot"
    is_revoked: bool = False
    """True if the token was revoked."""
    session_hash: bytes = b""
    """SHA-256 of the session's secret; empty if the name has no session on this server."""
    ratings: dict[str, GlickoRating] = {}
    """Ratings in the current season, by game."""
    owner: str = ""
    """Owner of the token; empty if the name has no token."""


async def load_accounts(
    engine: Engine, server_name: str, client_names: Iterable[str]
) -> dict[str, StoredAccount]:
    """Return the account of each client, by name. If nothing is stored for a name, its account has only defaults.

    server_name: name of the server whose sessions are read
    """
    accounts: dict[str, StoredAccount] = {}
    async with database.open_query_connection(engine) as connection:
        for chunk in database.split_into_chunks(sorted(set(client_names))):
            accounts |= {name: StoredAccount() for name in chunk}
            for row in await connection.execute(_SELECT_ACCOUNTS, {"names": chunk, "server": server_name}):
                account = accounts[row.name]
                if row.kind == "token":
                    account.token_hash, account.role, account.owner = row.hash_or_game, row.role, row.owner
                    account.is_revoked = row.revoked_or_rating != 0
                elif row.kind == "session":
                    account.session_hash = bytes.fromhex(row.hash_or_game)
                else:
                    account.ratings[row.hash_or_game] = GlickoRating(row.revoked_or_rating, row.deviation)
    return accounts


_CLIENT_NAMES_PARAMETER: sa.BindParameter[list[str]] = sa.bindparam("names", expanding=True)
_EMPTY_TEXT = sa.literal_column("''", sa.String)
_ZERO_NUMBER = sa.literal_column("0.0", sa.Double)
# One query for all data, because a query takes almost 1 ms of CPU time, however few rows it returns. The columns have the
# names of the first SELECT.
_SELECT_ACCOUNTS = sa.union_all(
    sa.select(
        sa.literal_column("'token'").label("kind"),
        tokens.c.name,
        tokens.c.hash.label("hash_or_game"),
        sa.cast(sa.case((tokens.c.revoked.is_(None), 0), else_=1), sa.Double).label("revoked_or_rating"),
        tokens.c.role,
        tokens.c.owner,
        _ZERO_NUMBER.label("deviation"),
    ).where(tokens.c.name.in_(_CLIENT_NAMES_PARAMETER)),
    sa.select(
        sa.literal_column("'session'"),
        sessions.c.name,
        sessions.c.hash,
        _ZERO_NUMBER,
        _EMPTY_TEXT,
        _EMPTY_TEXT,
        _ZERO_NUMBER,
    ).where(
        sessions.c.name.in_(_CLIENT_NAMES_PARAMETER),
        sessions.c.server == sa.bindparam("server", type_=sa.String),
    ),
    sa.select(
        sa.literal_column("'rating'"),
        standings.c.bot,
        standings.c.game,
        standings.c.rating,
        _EMPTY_TEXT,
        _EMPTY_TEXT,
        standings.c.deviation,
    ).where(
        standings.c.bot.in_(_CLIENT_NAMES_PARAMETER),
        standings.c.time_control == "",
        standings.c.season == select_current_season_number(standings.c.game),
    ),
)
