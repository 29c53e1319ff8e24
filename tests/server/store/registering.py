"""Names registered as the server does it, but without its page."""

from __future__ import annotations

from arena.server.store.database import Engine, make_transaction_writer
from arena.server.store.invitations import prepare_registration


async def register_name(engine: Engine, owner: str, name: str) -> str:
    """Register a name for an owner with an open invitation, and return its token. Raises TokenError."""
    change, token = await prepare_registration(engine, owner, name)
    assert await make_transaction_writer(engine)(change.apply)
    return token
