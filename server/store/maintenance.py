"""What a server does for its store while it runs: finished matches are packed, and the oldest removed."""

from __future__ import annotations

import logging

import anyio
from anyio.lowlevel import checkpoint
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store import database
from arena.server.store.compaction import compact
from arena.server.store.database import StoreError
from arena.server.store.journal.journal import Journal
from arena.server.store.retention import ArchiveFailed, Retention, prune

log = logging.getLogger("arena.store")

PACK_SECONDS = 2.0
"""From one look for what is to be packed to the next."""
PRUNE_SECONDS = 3600.0
"""From one look for what is not to be kept to the next."""


class Maintenance:
    """Looks after the store of one server. `run` must be under way for anything to be done."""

    def __init__(self, engine: AsyncEngine, journal: Journal, retention: Retention | None = None) -> None:
        """Write through the journal's own connection, so that nobody waits for a locked file."""
        self._engine = engine
        self._journal = journal
        self.retention = retention
        """Finished matches to keep; None for all of them."""

    async def run(self) -> None:
        """Pack and remove, until cancelled. A store or an archive that is away is tried again."""
        prune_at = anyio.current_time()
        while True:
            try:
                async with database.usable(self._engine):
                    await compact(self._engine, self._journal.write)
                    if self.retention is not None and anyio.current_time() >= prune_at:
                        prune_at = anyio.current_time() + PRUNE_SECONDS
                        await self._prune(self.retention)
            except StoreError as error:
                await checkpoint()  # a server that stops closes its store, and nobody waits for anything
                log.warning("the store is not looked after for now: %s", error)
            await anyio.sleep(PACK_SECONDS)

    async def _prune(self, retention: Retention) -> None:
        try:
            removed = await prune(self._engine, retention, self._journal.write)
        except ArchiveFailed as error:
            log.warning("finished matches stay in the store, and are not moved: %s", error)
            return
        if removed:
            where = "" if retention.archive is None else f", and are in {retention.archive}"
            log.info("%d finished matches were removed from the store%s", removed, where)
