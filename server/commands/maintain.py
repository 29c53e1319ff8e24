"""`arena store stats`, `prune` and `vacuum`: how much a store holds, and less of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.console import DatabaseOption, Failure, JsonOption, Misuse, write_json
from arena.server.commands.in_store import DATABASE, in_store
from arena.server.commands.output import print_table, say
from arena.server.commands.retention import retention_of
from arena.server.store.aggregates.counting import refresh
from arena.server.store.database import Engine
from arena.server.store.retention import ArchiveFailed, prune
from arena.server.store.stats import stats, vacuum


def register(app: typer.Typer) -> None:
    """Add `arena store` and its commands."""
    store = typer.Typer(
        help="What a host keeps: how much it is, and how it becomes less.", no_args_is_help=True
    )
    store.command("stats")(stats_command)
    store.command("prune")(prune_command)
    store.command("vacuum")(vacuum_command)
    app.add_typer(store, name="store")


def stats_command(db: DatabaseOption = DATABASE, json: JsonOption = None) -> None:
    """Show how many matches a store holds, since when, and how many bytes that takes, by table.

    Example: arena store stats --db sqlite:///arena.db --json -
    """
    found = in_store(db, stats)
    if json is not None:
        write_json(found, json)
        return
    each = "-" if found.bytes_a_match is None else f"{found.bytes_a_match:,.0f}"
    rows = {
        "finished matches": f"{found.matches:,}",
        "of these packed": f"{found.packed:,}",
        "matches in progress": f"{found.in_progress:,}",
        "oldest": found.oldest or "-",
        "newest": found.newest or "-",
        "bytes": f"{found.bytes:,}",
        "of these free": f"{found.free:,}",
        "bytes a match": each,
    }
    rows |= {f"bytes of {name}": f"{size:,}" for name, size in (found.tables or {}).items()}
    print_table({"": "left", "in the store": "right"}, rows.items())


def prune_command(
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            metavar="DAYS|MATCHES",
            help="Keep what is not older, as 90d, or the newest so many, as 1000000.",
        ),
    ],
    archive: Annotated[
        Path | None,
        typer.Option("--archive", metavar="FOLDER", help="Move the others to files in this folder."),
    ] = None,
    db: DatabaseOption = DATABASE,
) -> None:
    """Remove the oldest finished matches, or move them to files that `arena import` takes again.

    Oldest are those that came in first. Ratings and tables stay as they are. A server may run on the
    store meanwhile; the setting `store.keep` of `arena serve` does the same every hour.

    Example: arena store prune --keep 90d --archive old
    """
    retention = retention_of(keep, archive)
    if retention is None:
        raise Misuse("--keep: say which matches stay in the store, as 90d or 1000000")

    async def work(engine: Engine) -> int:
        await refresh(engine)
        try:
            return await prune(engine, retention)
        except ArchiveFailed as error:
            raise Failure(str(error)) from None

    removed = in_store(db, work)
    say(f"{removed:,} matches are {'removed' if archive is None else f'in {archive}'}")


def vacuum_command(db: DatabaseOption = DATABASE) -> None:
    """Pack all that is finished, and give the room of what was removed back to the disk.

    No server may run on the store meanwhile. While it is at work, SQLite needs as much room again.

    Example: arena store vacuum --db sqlite:///arena.db
    """
    given = in_store(db, vacuum)
    say(f"the store is {given:,} bytes smaller" if given >= 0 else f"the store is {-given:,} bytes larger")
