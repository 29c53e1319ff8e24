"""Accounts: the token, session and ratings stored for the name of a client that connects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from arena.protocol.values import Role
from arena.rating.glicko import GlickoRating
from arena.server.store import database
from arena.server.store.aggregates.seasons import select_running_season_number
from arena.server.store.database import Engine
from arena.server.store.schema import sessions, standings, tokens


class StoredAccount(Struct):
    """Token, session and ratings stored for a name. A field has its default if nothing is stored for it."""

    token: str = ""
    """SHA-256 of the token, in hexadecimal; empty if the name has no token."""
    role: Role = "bot"
    is_revoked: bool = False
    session: bytes = b""
    """SHA-256 of the session's secret; empty if the name has no session on this server."""
    ratings: dict[str, GlickoRating] = {}
    """Ratings in the current season, by game."""
    owner: str = ""
    """Owner of the token; empty if the name has no token."""


async def load_accounts(
    engine: Engine, server_name: str, client_names: Iterable[str]
) -> dict[str, StoredAccount]:
    """Return the account of each name, by name. A name for which nothing is stored gets an account of defaults.

    server_name: name of the server whose sessions are read
    """
    accounts: dict[str, StoredAccount] = {}
    async with database.open_query_connection(engine) as connection:
        for chunk in database.split_into_chunks(sorted(set(client_names))):
            accounts |= {name: StoredAccount() for name in chunk}
            for row in await connection.execute(_SELECT_ACCOUNTS, {"names": chunk, "server": server_name}):
                account = accounts[row.name]
                if row.kind == "token":
                    account.token, account.role, account.is_revoked = (
                        row.hash_or_game,
                        row.role,
                        row.revoked_or_rating != 0,
                    )
                    account.owner = row.owner
                elif row.kind == "session":
                    account.session = bytes.fromhex(row.hash_or_game)
                else:
                    account.ratings[row.hash_or_game] = GlickoRating(row.revoked_or_rating, row.deviation)
    return accounts


def _build_account_query(
    account_kind: str,
    name: sa.Column[Any],
    hash_or_game: sa.ColumnElement[Any],
    revoked_or_rating: sa.ColumnElement[Any],
    role: sa.ColumnElement[Any],
    owner: sa.ColumnElement[Any],
    deviation: sa.ColumnElement[Any],
) -> sa.Select[Any]:
    """Return the SELECT of tokens, sessions or ratings, for the UNION of all three in `_SELECT_ACCOUNTS`.

    account_kind: `token`, `session` or `rating`: value of the column `kind` in each row
    name, hash_or_game, revoked_or_rating, role, owner, deviation: SQL expressions for the other columns of the UNION
    """
    names_parameter: sa.BindParameter[list[str]] = sa.bindparam("names", expanding=True)
    query: sa.Select[Any] = sa.select(
        sa.literal_column(f"'{account_kind}'").label("kind"),
        name.label("name"),
        hash_or_game.label("hash_or_game"),
        revoked_or_rating.label("revoked_or_rating"),
        role.label("role"),
        owner.label("owner"),
        deviation.label("deviation"),
    )
    return query.where(name.in_(names_parameter))


_EMPTY_TEXT_COLUMN = sa.literal_column("''", sa.String)
_ZERO_COLUMN = sa.literal_column("0.0", sa.Double)
# One query for all data, because a query takes almost 1 ms of CPU time, however few rows it returns.
_SELECT_ACCOUNTS = sa.union_all(
    _build_account_query(
        "token",
        tokens.c.name,
        tokens.c.hash,
        sa.cast(sa.case((tokens.c.revoked.is_(None), 0), else_=1), sa.Double),
        tokens.c.role,
        tokens.c.owner,
        _ZERO_COLUMN,
    ),
    _build_account_query(
        "session",
        sessions.c.name,
        sessions.c.hash,
        _ZERO_COLUMN,
        _EMPTY_TEXT_COLUMN,
        _EMPTY_TEXT_COLUMN,
        _ZERO_COLUMN,
    ).where(sessions.c.server == sa.bindparam("server", type_=sa.String)),
    _build_account_query(
        "rating",
        standings.c.bot,
        standings.c.game,
        standings.c.rating,
        _EMPTY_TEXT_COLUMN,
        _EMPTY_TEXT_COLUMN,
        standings.c.deviation,
    ).where(
        standings.c.time_control == "", standings.c.season == select_running_season_number(standings.c.game)
    ),
)
