"""Invitations: codes with which an owner of bots registers names for them on the web site.

The host (the person who runs the server) creates an invitation. The code is shown once, and only its hash is stored.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import timedelta

import sqlalchemy as sa
from msgspec import to_builtins

from arena.server.store import database, names
from arena.server.store.database import Engine
from arena.server.store.owners import read_owner_account
from arena.server.store.schema import invitations, tokens
from arena.server.store.tokens import (
    StoredToken,
    TokenError,
    generate_token,
    hash_token,
    read_names_with_token,
    require_valid_name,
)


async def create_invitations(
    engine: Engine,
    owners: list[str],
    max_bots: int,
    valid_seconds: float,
    before_commit: Callable[[dict[str, str]], None] = lambda _codes: None,
) -> dict[str, str]:
    """Create an invitation for each owner, and return the invitation codes by owner.

    max_bots: maximum number of bots that an owner may have with the invitation, including bots registered before
    valid_seconds: time for which the invitations are valid
    before_commit: function that is called with the codes by owner before the invitations are committed; if it raises an
        exception, no invitation is created

    Raises TokenError, and creates no invitation, if an owner is not a valid name.
    """
    for owner in owners:
        require_valid_name(owner)
    codes = {owner: secrets.token_urlsafe(18) for owner in owners}
    expiry_time = database.format_current_time(timedelta(seconds=valid_seconds))
    rows = [
        {"hash": hash_token(code), "owner": owner, "bots": max_bots, "expires": expiry_time}
        for owner, code in codes.items()
    ]

    def insert_and_deliver(connection: sa.Connection) -> None:
        connection.execute(sa.insert(invitations), rows)
        before_commit(codes)

    await database.run_in_transaction(engine, insert_and_deliver)
    return codes


async def find_invited_owner(engine: Engine, invitation_code: str) -> str | None:
    """Return the owner for whom this invitation code was created; None if the code is unknown or has expired."""
    is_open = invitations.c.expires >= database.format_current_time()
    query = sa.select(invitations.c.owner).where(invitations.c.hash == hash_token(invitation_code), is_open)
    return (await database.fetch(engine, query)).scalar_one_or_none()


async def register_name_and_issue_token(engine: Engine, owner_name: str, name: str) -> str:
    """Register a name for a bot of an owner with an open invitation, and return the bot's token.

    Raises TokenError if the name is invalid, reserved or taken, or looks like another one, or if the owner's invitation
    is no longer open or has no names left.
    """
    require_valid_name(name)
    token = generate_token()
    row = StoredToken(name, "bot", owner_name, database.format_current_time(), None, None, hash_token(token))

    def check_and_insert_token(connection: sa.Connection) -> None:
        database.lock_store_exclusively(connection)
        _require_available_name(connection, owner_name, name)
        connection.execute(sa.insert(tokens), to_builtins(row))

    await database.run_in_transaction(engine, check_and_insert_token)
    return token


def _require_available_name(connection: sa.Connection, owner_name: str, name: str) -> None:
    """Raise TokenError if an owner may register no more names, or may not register `name`."""
    account = read_owner_account(connection, owner_name)
    if not account.invitation_end_time:
        raise TokenError("this invitation is no longer open: ask the host for a new one")
    if not account.remaining_name_count:
        raise TokenError("all names of this invitation are taken: retire a bot, or ask the host for more")
    known_names = read_names_with_token(connection)
    why = names.find_name_unavailability_reason(name, known_names)
    if why is not None:
        raise TokenError(why)
    if name in known_names:
        raise TokenError(f"{name!r:.80} is taken: choose another name")
