"""A journal of a test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store.journal.journal import Journal


@asynccontextmanager
async def playing(engine: AsyncEngine, server: str = "") -> AsyncIterator[Journal]:
    """A journal that is killed at the end."""
    async with anyio.create_task_group() as tasks:
        journal = Journal(engine, server=server)
        tasks.start_soon(journal.run)
        yield journal
        tasks.cancel_scope.cancel()
