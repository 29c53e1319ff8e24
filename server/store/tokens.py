"""Tokens: secrets that prove a client's right to a name. The store holds only a hash of each.

A token is for one name in one role, such as `bot`. The text of a token is shown once, when the token is created. A name
whose token was revoked stays reserved for its owner.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import sqlalchemy as sa
from msgspec import Struct, field, to_builtins

from arena.protocol.values import Role
from arena.server.store import database, errors, names
from arena.server.store.database import Engine
from arena.server.store.schema import matches, sessions, standings, tokens

MAX_CLIENT_NAME_LENGTH = 64
"""Maximum length of the name of a bot or an owner, in characters."""


class TokenError(errors.OperationRefused):
    """Raised when a token cannot be created or changed; the message is a one-line reason."""


class StoredToken(Struct, frozen=True):
    """Stored data of a token. Times are in the format of `database.format_current_time`."""

    name: str
    role: Role
    owner: str
    """Owner of the bot: a person's name, or the name of the bot itself."""
    creation_time: str = field(name="created")
    rotation_time: str | None = field(name="rotated")
    """Time at which the token was last replaced; None if it never was."""
    revocation_time: str | None = field(name="revoked")
    """Time at which the token was revoked; None if it is valid."""
    token_hash: str = field(name="hash")
    """SHA-256 of the token, in hexadecimal."""


def is_valid_name(name: str) -> bool:
    """Return True if the name has 1 to 64 printable characters, and no space at either end."""
    return 0 < len(name) <= MAX_CLIENT_NAME_LENGTH and name.isprintable() and name == name.strip()


def require_valid_name(name: str) -> None:
    """Raise TokenError unless `is_valid_name` accepts the name."""
    if not is_valid_name(name):
        raise TokenError(
            f"{name!r:.80} is not a valid name: write 1 to {MAX_CLIENT_NAME_LENGTH} printable characters, without a space at either end"
        )


def generate_token() -> str:
    """Return a new random token, which is not stored yet."""
    return secrets.token_urlsafe(24)


def hash_token(token: str) -> str:
    """Return the SHA-256 of a token or a session's secret, in hexadecimal, as the store holds it."""
    # 192 random bits cannot be guessed, so one fast hash is enough; a slow one is for passwords.
    return sha256(token.encode()).hexdigest()


async def create_token(
    engine: Engine,
    name: str,
    role: Role,
    owner_name: str = "",
    before_commit: Callable[[str], None] = lambda _token: None,
) -> str:
    """Create a token for a name that has none, or only a revoked one, and return the token.

    owner_name: owner of the bot; empty if the bot owns itself
    before_commit: function that is called with the token before it is committed; if it raises an exception, no token is created

    Raises TokenError if `name` has a token already, is invalid or reserved, or looks like another name in the store,
    and if `owner_name` is not a valid name.
    """
    for checked_name in (name, owner_name or name):
        require_valid_name(checked_name)
    token = generate_token()
    new_token = StoredToken(
        name, role, owner_name or name, database.format_current_time(), None, None, hash_token(token)
    )

    def check_and_insert_new_token(connection: sa.Connection) -> None:
        database.lock_store_exclusively(connection)
        revoked = dict(connection.execute(sa.select(tokens.c.name, tokens.c.revoked)).all())
        why = names.find_name_unavailability_reason(name, revoked)
        if why is None and revoked.get(name, "") is None:
            why = f"{name!r} already has a token: rotate it to get a new one, or revoke it first"
        if why is not None:
            raise TokenError(why)
        connection.execute(database.make_upsert(connection.dialect.name, tokens), to_builtins(new_token))
        before_commit(token)

    await database.run_in_transaction(engine, check_and_insert_new_token)
    return token


async def rotate_token(
    engine: Engine,
    name: str,
    presented_token: StoredToken | None = None,
    before_commit: Callable[[str], None] = lambda _token: None,
) -> str:
    """Replace the token of a name, and return the new one.

    presented_token: token of one of the owner's bots, with which the owner asks for the change; None if the person who
        runs the server asks
    before_commit: function that is called with the new token before it is committed; if it raises an exception, the old token
        stays valid

    Raises TokenError if the name has no token, or a revoked one. With `presented_token`, raises TokenError too if the name
    is not a bot of the same owner, or if the presented token has changed since the caller read it.
    """
    token = generate_token()
    change = {"hash": hash_token(token), "rotated": database.format_current_time()}
    await _change_token(engine, name, presented_token, change, lambda: before_commit(token))
    return token


async def revoke_token(engine: Engine, name: str, presented_token: StoredToken | None = None) -> None:
    """Revoke the token of a name, so that nobody can connect with it any more.

    presented_token: token of one of the owner's bots, with which the owner asks for the change; None if the person who
        runs the server asks

    Raises TokenError in the same cases as `rotate_token`.
    """
    await _change_token(engine, name, presented_token, {"revoked": database.format_current_time()})


async def _change_token(
    engine: Engine,
    name: str,
    presented_token: StoredToken | None,
    new_values: dict[str, str],
    before_commit: Callable[[], None] = lambda: None,
) -> None:
    change = sa.update(tokens).where(tokens.c.name == name, tokens.c.revoked.is_(None)).values(new_values)
    if presented_token is not None:
        change = change.where(tokens.c.owner == presented_token.owner, tokens.c.role == "bot")

    def check_and_change_token(connection: sa.Connection) -> int:
        database.lock_store_exclusively(connection)
        if presented_token is not None:
            row = connection.execute(_SELECT_TOKEN, {"token_name": presented_token.name}).one_or_none()
            if row is None or make_token_from_row(row) != presented_token:
                raise TokenError(f"the token of {presented_token.name!r:.80} has changed: log in again")
        changed_rows = connection.execute(change).rowcount
        if changed_rows:
            before_commit()
        return changed_rows

    if not await database.run_in_transaction(engine, check_and_change_token):
        if presented_token is not None:
            raise make_unknown_bot_error(presented_token.owner, name)
        raise TokenError(f"{name!r:.80} has no token, or it was revoked: `arena token list` shows all tokens")


def make_unknown_bot_error(owner_name: str, bot_name: str) -> TokenError:
    """Return the error for a `bot_name` that is not a bot of the owner, or is a bot whose token was revoked."""
    return TokenError(f"owner {owner_name!r:.70} has no bot called {bot_name!r:.70}")


async def find_token(engine: Engine, name: str) -> StoredToken | None:
    """Return the token of a name, even if it was revoked; None if the name has none."""
    row = (await database.fetch(engine, _SELECT_TOKEN, {"token_name": name})).one_or_none()
    return make_token_from_row(row) if row is not None else None


async def is_valid_session_secret(engine: Engine, name: str, session_secret: str, match_id: str = "") -> bool:
    """Return True if `session_secret` belongs to a stored session of this name, on any server.

    match_id: id of a match that must have begun during the session, on the session's server; empty to accept any session
    """
    query = sa.select(sessions.c.hash).where(sessions.c.name == name)
    if match_id:
        began_later = (matches.c.server == sessions.c.server) & (matches.c.number > sessions.c.since)
        query = query.join(matches, began_later).where(matches.c.match == match_id)
    hashes = (await database.fetch(engine, query)).scalars().all()
    return hash_token(session_secret) in hashes


async def list_tokens(engine: Engine) -> list[StoredToken]:
    """Return all tokens, including revoked ones, sorted by name."""
    rows = await database.fetch(engine, sa.select(tokens))
    return sorted(map(make_token_from_row, rows), key=lambda token: token.name)


def read_names_with_token(connection: sa.Connection) -> list[str]:
    """Return all names that have a token, even a revoked one, in the caller's transaction.

    The query returns all names as one value, because thousands of rows would block the event loop for several ms.
    """
    text = connection.scalar(sa.select(sa.func.aggregate_strings(tokens.c.name, "\n")))
    return text.split("\n") if text else []


async def load_all_client_names(engine: Engine) -> set[str]:
    """Return every name of a bot or another client that has a token, a session or a rating."""
    names = (tokens.c.name, sessions.c.name, standings.c.bot)
    return set((await database.fetch(engine, sa.union(*map(sa.select, names)))).scalars())


_SELECT_TOKEN = sa.select(tokens).where(tokens.c.name == sa.bindparam("token_name"))


def make_token_from_row(row: sa.Row[Any]) -> StoredToken:
    """Return a row of the table `tokens` as a StoredToken."""
    return StoredToken(*(getattr(row, name) for name in StoredToken.__struct_encode_fields__))
