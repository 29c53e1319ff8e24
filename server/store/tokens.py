"""Tokens in the store: each opens one name in one role, is shown once, and is kept as a hash.

Every change is one statement that says what it expects to find, so two that run at once cannot both
succeed. A name whose token was revoked stays its own: it is not free for others.
"""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.protocol.values import Role
from arena.server.store import database
from arena.server.store.schema import tokens

MAX_NAME = 64


class TokenError(Exception):
    """The change cannot be made: one line that says why."""


class Token(Struct, frozen=True):
    """What is known of a token. Times as `database.now` writes them."""

    name: str
    role: Role
    created: str
    rotated: str | None
    revoked: str | None
    hash: str


def is_name(name: str) -> bool:
    """Whether a bot may have this name: 1 to 64 printed characters, with no space at either end."""
    return 0 < len(name) <= MAX_NAME and name.isprintable() and name == name.strip()


def new_token() -> str:
    """A token that was never there before."""
    return secrets.token_urlsafe(24)


def hashed(token: str) -> str:
    """What is kept of a token."""
    # 192 random bits cannot be guessed, so one fast hash is enough; a slow one is for passwords.
    return sha256(token.encode()).hexdigest()


async def create(engine: AsyncEngine, name: str, role: Role) -> str:
    """A token for a name that has none, or whose token was revoked. Raises TokenError."""
    if not is_name(name):
        raise TokenError(f"{name!r:.80} is no name: write 1 to {MAX_NAME} printed characters")
    token = new_token()
    values = {
        "hash": hashed(token),
        "role": role,
        "created": database.now(),
        "rotated": None,
        "revoked": None,
    }
    revoked = sa.update(tokens).where(tokens.c.name == name, tokens.c.revoked.is_not(None)).values(**values)
    try:
        async with engine.begin() as connection:
            if not (await connection.execute(revoked)).rowcount:
                await connection.execute(sa.insert(tokens).values(name=name, **values))
    except IntegrityError:
        raise TokenError(f"{name!r} has a token: rotate it for a new one, or revoke it") from None
    return token


async def rotate(engine: AsyncEngine, name: str) -> str:
    """A new token for a name, in place of the old one. Raises TokenError."""
    token = new_token()
    await _change(engine, name, hash=hashed(token), rotated=database.now())
    return token


async def revoke(engine: AsyncEngine, name: str) -> None:
    """Nobody gets in under this name any more. Raises TokenError."""
    await _change(engine, name, revoked=database.now())


async def _change(engine: AsyncEngine, name: str, **values: str) -> None:
    change = sa.update(tokens).where(tokens.c.name == name, tokens.c.revoked.is_(None)).values(**values)
    async with engine.begin() as connection:
        found = (await connection.execute(change)).rowcount
    if not found:
        raise TokenError(f"{name!r:.80} has no token, or it was revoked: `arena token list` shows all")


async def find(engine: AsyncEngine, name: str) -> Token | None:
    """The token of a name, also a revoked one."""
    async with database.reading(engine) as connection:
        row = (await connection.execute(_FIND, {"of": name})).one_or_none()
    return _token(row) if row is not None else None


async def all_tokens(engine: AsyncEngine) -> list[Token]:
    """Every token, by name."""
    async with database.reading(engine) as connection:
        rows = (await connection.execute(sa.select(tokens))).all()
    return sorted(map(_token, rows), key=lambda token: token.name)


_FIND = sa.select(tokens).where(tokens.c.name == sa.bindparam("of"))


def _token(row: sa.Row[Any]) -> Token:
    return Token(**{name: getattr(row, name) for name in Token.__struct_fields__})
