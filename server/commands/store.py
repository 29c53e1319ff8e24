"""`arena store stats`, `prune` and `vacuum`: inspect and reduce a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena import user_paths
from arena.console import DatabaseOption, JsonOption, UsageError, err, print_table_or_write_json
from arena.server.commands.store_access import DEFAULT_DATABASE_URL, run_on_store
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.database import Engine
from arena.server.store.pruning import BadRetention, Retention, prune_matches
from arena.server.store.stats import load_store_stats, vacuum_store_and_get_freed_bytes


def stats_command(db: DatabaseOption = DEFAULT_DATABASE_URL, json: JsonOption = None) -> None:
    """Show the number and dates of matches, and the bytes of each database table.

    Example: arena store stats --db sqlite:///arena.db --json -
    """
    stats = run_on_store(db, load_store_stats)
    bytes_per_match = "-" if stats.bytes_per_match is None else f"{stats.bytes_per_match:,.0f}"
    rows = {
        "finished matches": f"{stats.finished_match_count:,}",
        "of these packed": f"{stats.packed_match_count:,}",
        "matches in progress": f"{stats.current_match_count:,}",
        "oldest": stats.oldest_end_time or "-",
        "newest": stats.newest_end_time or "-",
        "bytes": f"{stats.total_bytes:,}",
        "of these free": f"{stats.free_bytes:,}",
        "bytes a match": bytes_per_match,
    }
    rows |= {f"bytes of {name}": f"{size:,}" for name, size in (stats.bytes_by_table or {}).items()}
    print_table_or_write_json(stats, json, {"": "left", "in the store": "right"}, rows.items())


def prune_command(
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            metavar="DAYS|MATCHES",
            help="Newest matches to keep: up to an age, e.g. 90d, or a number, e.g. 1000000.",
        ),
    ],
    archive: Annotated[
        Path | None,
        typer.Option(
            "--archive",
            metavar="FOLDER",
            help="Archive removed matches in this folder; default: delete them.",
        ),
    ] = None,
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Remove the oldest finished matches, or move them to files that `arena import` can read.

    The oldest matches are those that were stored first. Ratings and tables of results do not change. A server may use the database
    meanwhile. With the setting `store.keep`, `arena serve` itself does the same every hour.

    Example: arena store prune --keep 90d --archive old
    """
    retention = _parse_retention(keep, archive)

    async def count_and_prune(engine: Engine) -> int:
        await add_new_matches_to_aggregates(engine)
        return await prune_matches(engine, retention)

    removed_count = run_on_store(db, count_and_prune)
    err.print(f"{removed_count:,} matches are {'removed' if archive is None else f'archived in {archive}'}")


def _parse_retention(keep_option: str, archive_folder: Path | None) -> Retention:
    """Return the rule for which matches to keep, and where to archive the others, as given by --keep and --archive.

    Raises UsageError if one of the two is invalid.
    """
    if (
        archive_folder is not None
        and user_paths.exists(archive_folder)
        and not user_paths.is_folder(archive_folder)
    ):
        raise UsageError(f"--archive: {archive_folder} is not a folder: name a folder for removed matches")
    try:
        return Retention.parse(keep_option, archive_folder)
    except BadRetention as error:
        raise UsageError(f"--keep: {error}") from None


def vacuum_command(db: DatabaseOption = DEFAULT_DATABASE_URL) -> None:
    """Compress all finished matches, and give the space of removed ones back to the disk.

    No server may use the database meanwhile. SQLite needs free disk space for a second copy of the database.

    Example: arena store vacuum --db sqlite:///arena.db
    """
    freed_bytes = run_on_store(db, vacuum_store_and_get_freed_bytes)
    err.print(
        f"the store is {freed_bytes:,} bytes smaller"
        if freed_bytes >= 0
        else f"the store is {-freed_bytes:,} bytes larger"
    )


SUBCOMMAND_FUNCTIONS = (stats_command, prune_command, vacuum_command)
