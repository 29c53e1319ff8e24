"""Remove the oldest matches and expired personal data from the store while a server runs."""

from __future__ import annotations

import logging

from arena.server.store.database import Engine
from arena.server.store.journal.journal import Journal
from arena.server.store.personal_data import remove_expired
from arena.server.store.pruning import ArchiveFailed, Retention, prune

log = logging.getLogger("arena.store")


async def remove_old_data(engine: Engine, journal: Journal, retention: Retention | None) -> None:
    """Remove expired personal data, and the finished matches that `retention` does not keep; None keeps all matches.

    The data are removed through `journal`, so that the journal never waits for a file that another connection has
    locked. If the archive folder is unavailable, the matches stay, and a warning is logged.
    """
    await journal.write(remove_expired)
    if retention is None:
        return
    try:
        removed_count = await prune(engine, retention, journal.write)
    except ArchiveFailed as error:
        log.warning("finished matches stay in the store, because they cannot be archived: %s", error)
        return
    if removed_count:
        archive_text = "" if retention.archive is None else f", and are in {retention.archive}"
        log.info("%d finished matches were removed from the store%s", removed_count, archive_text)
