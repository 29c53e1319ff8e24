"""Maintain the store while a server runs: pack finished matches, and remove the oldest matches and expired data."""

from __future__ import annotations

import logging

from anyio.lowlevel import checkpoint

from arena.clock import MONOTONIC, TimeSource
from arena.server.store import database
from arena.server.store.compaction import pack_finished_matches
from arena.server.store.database import Engine, StoreError
from arena.server.store.journal.journal import Journal
from arena.server.store.personal_data import remove_expired
from arena.server.store.pruning import ArchiveFailed, Retention, prune

log = logging.getLogger("arena.store")

PACK_SECONDS = 2.0
"""Interval between checks for finished matches to pack, in seconds."""
PRUNE_SECONDS = 3600.0
"""Interval between checks for old matches and expired personal data to remove, in seconds."""


class Maintenance:
    """Maintenance of the store by one server. `run` does the work."""

    def __init__(
        self,
        engine: Engine,
        journal: Journal,
        retention: Retention | None = None,
        clock: TimeSource = MONOTONIC,
    ) -> None:
        """Prepare the maintenance of the store of `engine`.

        It writes through `journal`, so that the journal never waits for a file that another connection has locked.
        """
        self._engine = engine
        self._journal = journal
        self._clock = clock
        self.retention = retention
        """Rule for which finished matches to keep; None to keep all."""

    async def run(self) -> None:
        """Pack and remove matches until cancelled.

        If the store or the archive folder is unavailable, try again later.
        """
        prune_at = self._clock.now()
        while True:
            try:
                async with database.convert_database_errors(self._engine):
                    await pack_finished_matches(self._engine, self._journal.write)
                    if self._clock.now() >= prune_at:
                        prune_at = self._clock.now() + PRUNE_SECONDS
                        await self._journal.write(remove_expired)
                        if self.retention is not None:
                            await self._prune(self.retention)
            except StoreError as error:
                await checkpoint()  # raises if the server is stopping, which closes the store
                log.warning("the store cannot be maintained now: %s", error)
            await self._clock.sleep(PACK_SECONDS)

    async def _prune(self, retention: Retention) -> None:
        try:
            removed_count = await prune(self._engine, retention, self._journal.write)
        except ArchiveFailed as error:
            log.warning("finished matches stay in the store, because they cannot be archived: %s", error)
            return
        if removed_count:
            archive_text = "" if retention.archive is None else f", and are in {retention.archive}"
            log.info("%d finished matches were removed from the store%s", removed_count, archive_text)
