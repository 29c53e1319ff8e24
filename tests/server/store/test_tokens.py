from __future__ import annotations

from contextlib import suppress

import anyio
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store import schema, tokens
from arena.server.store.tokens import TokenError


async def test_only_the_hash_of_a_token_is_stored(engine: AsyncEngine) -> None:
    token = await tokens.create_token(engine, "anna", "bot")
    async with engine.connect() as connection:
        row = (await connection.execute(sa.select(schema.tokens))).one()
    assert token not in str(tuple(row))
    assert row.hash == tokens.hash_token(token)
    assert len(token) >= 32


async def test_a_name_has_one_token_until_it_is_revoked(engine: AsyncEngine) -> None:
    first = await tokens.create_token(engine, "anna", "bot")
    with pytest.raises(TokenError, match="'anna' already has a token"):
        await tokens.create_token(engine, "anna", "admin")
    await tokens.revoke_token(engine, "anna")
    second = await tokens.create_token(engine, "anna", "spectator")
    found = await tokens.find_token(engine, "anna")
    assert first != second
    assert found is not None
    assert (found.token_hash, found.role, found.revocation_time) == (
        tokens.hash_token(second),
        "spectator",
        None,
    )


async def test_of_two_concurrent_creations_one_succeeds(engine: AsyncEngine) -> None:
    made: list[str] = []

    async def create() -> None:
        with suppress(TokenError):
            made.append(await tokens.create_token(engine, "anna", "bot"))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(create)
    found = await tokens.find_token(engine, "anna")
    assert found is not None
    assert [tokens.hash_token(token) for token in made] == [found.token_hash]


@pytest.mark.parametrize("name", ["", " anna", "an\na", "a" * 65, "nul\0"])
async def test_an_invalid_name_gets_no_token(engine: AsyncEngine, name: str) -> None:
    with pytest.raises(TokenError, match="is not a valid name"):
        await tokens.create_token(engine, name, "bot")
    assert await tokens.list_tokens(engine) == []


async def test_tokens_are_listed_by_name(engine: AsyncEngine) -> None:
    for name in ("carl", "anna", "Bert", "müller"):
        await tokens.create_token(engine, name, "bot")
    await tokens.revoke_token(engine, "carl")
    found = await tokens.list_tokens(engine)
    assert [(token.name, token.revocation_time is None) for token in found] == [
        ("Bert", True),
        ("anna", True),
        ("carl", False),
        ("müller", True),
    ]
