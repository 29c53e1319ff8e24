"""Invitations: codes with which an owner of bots registers names for them on the web site, without the host's help.

The host, who runs the server, creates an invitation. Its code is shown once, and only a hash of the code is stored.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import asdict

from arena.server.store import database, names
from arena.server.store.database import Engine
from arena.server.store.owners import load_owner
from arena.server.store.schema import invitations, tokens
from arena.server.store.tokens import (
    Token,
    TokenError,
    generate_token,
    hash_token,
    require_valid_name,
)


class NameRegistration(Struct, frozen=True, tag="name"):
    """`StoreChange` that registers a name, with a token, for an owner with an open invitation."""

    token: Token
    names_at_check: bytes
    """Digest of all names in the store when this name was found to be free. `apply` checks that it has not changed."""

    def apply(self, connection: sa.Connection) -> bool:
        """Register the name in the caller's transaction, and return True.

        Return False, and change nothing, if any name in the store was added or removed since the check.
        """
        database.lock_exclusively(connection)
        if _compute_digest(connection.execute(_SELECT_NAMES).scalars()) != self.names_at_check:
            return False
        connection.execute(sa.insert(tokens), asdict(self.token))
        return True


async def create_invitations(engine: Engine, owners: list[str], bots: int, seconds: float) -> dict[str, str]:
    """Create an invitation for each owner, and return the codes by owner.

    bots: maximum number of bots that an owner may have with the invitation, including earlier ones
    seconds: time for which the invitations are valid

    Raises TokenError, and creates no invitation, if an owner is not a valid name.
    """
    for owner in owners:
        require_valid_name(owner)
    codes = {owner: secrets.token_urlsafe(18) for owner in owners}
    expiry_time = database.format_timestamp(datetime.now(UTC) + timedelta(seconds=seconds))
    rows = [
        {"hash": hash_token(code), "owner": owner, "bots": bots, "expires": expiry_time}
        for owner, code in codes.items()
    ]
    async with database.open_exclusive_transaction(engine) as connection:
        await connection.execute(sa.insert(invitations), rows)
    return codes


async def find_invited_owner(engine: Engine, code: str) -> str | None:
    """Return the owner to whom the host gave this code; None if the code is unknown or has expired."""
    is_open = invitations.c.expires >= database.format_current_time()
    query = sa.select(invitations.c.owner).where(invitations.c.hash == hash_token(code), is_open)
    async with database.open_query_connection(engine) as connection:
        return (await connection.execute(query)).scalar_one_or_none()


async def prepare_registration(engine: Engine, owner: str, name: str) -> tuple[NameRegistration, str]:
    """Check the name that an owner wants for a bot. Return the change that registers the name, and the bot's token.

    Nothing is stored until the change is applied. Raises TokenError if the name is invalid, reserved or taken, or looks
    like another one, and if the owner's invitation is over or used up.
    """
    require_valid_name(name)
    async with database.open_query_connection(engine) as connection:
        # The names are read before the account: if the owner registers another one in between, `apply` returns False.
        known_names = set((await connection.execute(_SELECT_NAMES)).scalars())
    account = await load_owner(engine, owner)
    if not account.until:
        raise TokenError("this invitation is no longer open: ask the host for a new one")
    if not account.left:
        raise TokenError("all names of this invitation are taken: retire a bot, or ask the host for more")
    why = names.find_unavailability_reason(name, known_names)
    if why is not None:
        raise TokenError(why)
    if name in known_names:
        raise TokenError(f"{name!r:.80} is taken: choose another name")
    token = generate_token()
    return NameRegistration(
        Token(name, "bot", owner, database.format_current_time(), None, None, hash_token(token)),
        _compute_digest(known_names),
    ), token


def _compute_digest(names: Iterable[str]) -> bytes:
    """Return the SHA-256 digest of names, which does not depend on their order."""
    return sha256("\n".join(sorted(names)).encode()).digest()


_SELECT_NAMES = sa.select(tokens.c.name)
