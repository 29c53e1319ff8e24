from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store.database import open_store


@pytest.fixture
async def engine(database: str) -> AsyncIterator[AsyncEngine]:
    """Yield the engine of an empty store, on each kind of database."""
    async with open_store(database) as opened:
        yield opened
