"""The options `--keep` and `--archive` of the commands that remove the oldest matches."""

from __future__ import annotations

from pathlib import Path

from arena.console import Misuse
from arena.server.store.retention import BadRetention, Retention


def retention_of(keep: str, archive: Path | None) -> Retention | None:
    """What these options ask for; None where all matches are kept. Raises Misuse."""
    if not keep:
        if archive is not None:
            raise Misuse("--archive: say with --keep which matches stay in the store, as 90d or 1000000")
        return None
    if archive is not None and archive.exists() and not archive.is_dir():
        raise Misuse(f"--archive: {archive} is no folder")
    try:
        return Retention.parse(keep, archive)
    except BadRetention as error:
        raise Misuse(f"--keep: {error}") from None
