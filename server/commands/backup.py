"""`arena backup`, `restore`, `export` and `import`: copy a store's contents to files and back."""

from __future__ import annotations

import gzip
import zlib
from contextlib import aclosing, nullcontext
from io import BufferedIOBase
from itertools import chain
from pathlib import Path
from typing import Annotated, TextIO

import anyio
import msgspec
import typer

from arena.atomic_file import FULL_DISK_ERRNOS, open_output_file
from arena.console import (
    CommandError,
    DatabaseOption,
    OwnGamesOption,
    UsageError,
    err,
    register_games,
    validate_output_file,
)
from arena.server.commands.store_access import (
    DEFAULT_DATABASE_URL,
    make_unknown_event_error,
    require_existing_sqlite_file,
    run_on_store,
)
from arena.server.store.archive import (
    ImportResult,
    export_archive_lines,
    import_matches,
    parse_archive_lines,
    read_archive_lines,
)
from arena.server.store.backup import StoreCounts, create_backup, restore_backup
from arena.server.store.database import Engine
from arena.server.store.errors import StoreError
from arena.server.store.owners import load_names_of_owner
from arena.server.store.personal_data import is_name_stored, load_personal_data

GZIP_MAGIC_BYTES = b"\x1f\x8b"
SQLITE_MAGIC_BYTES = b"SQLite format 3\0"
MAX_SHOWN_BAD_LINES = 20
"""Maximum number of lines without a valid record that `arena import` lists, each with the reason."""


def backup_command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            callback=validate_output_file,
            help="Backup file to create; it must not exist yet.",
        ),
    ],
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Copy the database to a file while servers use it.

    The copy holds matches, journals and ratings, and a hash of each token.

    The file is an SQLite database, also if the original is PostgreSQL. `arena serve --db` can use it directly, and `arena
    restore` copies it into another database.

    Example: arena backup --db postgresql://arena@db/arena arena-2026-11-20.db
    """
    if str(file) == "-":
        raise UsageError(
            "FILE: a backup is a database, which cannot be written to standard output: name a file"
        )
    url = db or DEFAULT_DATABASE_URL
    require_existing_sqlite_file(url)
    try:
        counts = anyio.run(create_backup, url, file)
    except StoreError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"cannot write {file}: {error.strerror}") from None
    err.print(f"{file}: {_format_store_counts(counts)}")


def restore_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Backup file, written by `arena backup`.")],
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Restore a backup into an empty database.

    The database may be SQLite or PostgreSQL. If anything fails, nothing is restored.

    Example: arena restore --db postgresql://arena@db/arena arena-2026-11-20.db
    """
    try:
        counts = anyio.run(restore_backup, db or DEFAULT_DATABASE_URL, file)
    except StoreError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        if error.errno in FULL_DISK_ERRNOS or error.filename is None:
            raise CommandError(
                f"cannot copy {file} to a temporary folder: {error.strerror or error}"
            ) from None
        raise CommandError(f"cannot read {file}: {error.strerror}") from None
    err.print(f"restored {_format_store_counts(counts)}")


def export_command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.jsonl",
            callback=validate_output_file,
            help="Output file for the exported records (- for standard output).",
        ),
    ],
    event: Annotated[
        str | None,
        typer.Option(
            "--event", metavar="NAME", help="Export only matches of this event (tournament or ladder)."
        ),
    ] = None,
    owner: Annotated[
        str | None,
        typer.Option("--owner", metavar="NAME", help="Export everything stored about this owner's bots."),
    ] = None,
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Write finished matches as records, one JSON object per line.

    The matches are in the order in which the server stored them.

    `arena replay` steps through them, and `arena import` adds them to another store. With --owner, the first line
    has tokens (without secrets), sessions, bans and ratings, and the matches follow.

    Example: arena export --db sqlite:///arena.db --event serve matches.jsonl

    Example: arena export --owner ada ada.jsonl
    """

    to_file = str(file) != "-"

    async def write_records(engine: Engine, stream: TextIO | None) -> int:
        count = 0
        bots = () if owner is None else await load_names_of_owner(engine, owner)
        if bots and not any([await is_name_stored(engine, name) for name in bots]):
            raise CommandError(f"nothing is stored about {owner!r:.80}: `arena owner list` shows all owners")
        if owner is not None:
            owner_data = {"owner": owner, "names": bots} | await load_personal_data(engine, bots)
            _write_line(msgspec.json.encode(owner_data).decode(), stream)
        async with aclosing(export_archive_lines(engine, event, bots)) as lines:
            async for line in lines:
                _write_line(line, stream)
                count += 1
        if event is not None and owner is None and not count:
            raise make_unknown_event_error(event)
        return count

    try:
        with open_output_file(file) if to_file else nullcontext() as output:
            count = run_on_store(db, lambda engine: write_records(engine, output))
    except OSError as error:
        raise CommandError(f"cannot write {file}: {error.strerror}") from None
    except _OutputFailed as failure:
        if isinstance(failure.reason, BrokenPipeError):
            raise failure.reason from None  # as in `arena export - | head`, which ends the command without a word
        output_name = file if to_file else "standard output"
        raise CommandError(f"cannot write {output_name}: {failure.reason.strerror}") from None
    err.print(f"{count} matches are in {file}" if to_file else f"{count} matches")


class _OutputFailed(Exception):
    """Raised instead of OSError if `arena export` cannot write its output: an OSError would be reported as a database error.

    reason: error of the operating system
    """

    def __init__(self, reason: OSError) -> None:
        super().__init__(str(reason))
        self.reason = reason


def _write_line(text: str, stream: TextIO | None) -> None:
    """Write a line to `stream`, or to standard output if `stream` is None."""
    try:
        typer.echo(text, file=stream)
    except OSError as error:
        raise _OutputFailed(error) from None


def import_command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.jsonl",
            help="File of match records to read, one JSON object per line; may be gzipped.",
        ),
    ],
    trust: Annotated[
        bool,
        typer.Option(
            "--trust", help="Count the imported rated matches in the ratings; only for your own exports."
        ),
    ] = False,
    game: OwnGamesOption = None,
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Check records by the rules, and add them to a database.

    Importing a file again changes nothing.

    A line is left out and reported if it is not a record, has a move against the rules or an invalid time, or differs
    from the stored match of the same id. All other lines are imported. Matches count for ratings only with --trust.

    Example: arena import --db sqlite:///arena.db ladder.jsonl

    Example: arena import --trust old/matches-000000000001-000000001000.jsonl.gz
    """
    register_games(game)
    result = ImportResult()
    try:
        with _open_record_file(file) as lines:
            _require_readable_file(lines, file)
            matches = parse_archive_lines(read_archive_lines(lines), result)
            if (first := next(matches, None)) is not None:  # before a missing store is created
                run_on_store(
                    db,
                    lambda engine: import_matches(
                        engine, chain([first], matches), result, counts_rated_matches=trust
                    ),
                    creates_missing_file=True,
                )
    except OSError as error:
        raise CommandError(f"cannot read {file}: {error.strerror or error}") from None
    rejected = sorted(result.reason_by_rejected_line.items())
    for number, why in rejected[:MAX_SHOWN_BAD_LINES]:
        err.print(f"{file}, line {number}: {why}")
    if len(rejected) > MAX_SHOWN_BAD_LINES:
        err.print(f"… and {len(rejected) - MAX_SHOWN_BAD_LINES:,} more bad lines")
    summary = f"{result.added_count} matches are new, {result.unchanged_count} were there already, {len(result.reason_by_rejected_line)} lines are bad"
    if result.reason_by_rejected_line:
        raise CommandError(summary)
    err.print(summary)


def _open_record_file(file: Path) -> BufferedIOBase:
    """Open a file of match records, which may be compressed with gzip. Raises UsageError for an SQLite database."""
    with file.open("rb") as file_object:
        first_bytes = file_object.read(len(SQLITE_MAGIC_BYTES))
    if first_bytes == SQLITE_MAGIC_BYTES:
        raise UsageError(
            f"{file} is a database, not a file of records: write records with `arena export --db sqlite:///{file}`, "
            "or restore a backup with `arena restore`"
        )
    return gzip.open(file) if first_bytes.startswith(GZIP_MAGIC_BYTES) else file.open("rb")


def _require_readable_file(open_file: BufferedIOBase, file: Path) -> None:
    """Read a file of match records to its end, and seek back to its start. Raises CommandError if the file is damaged."""
    line_count = 0
    try:
        for _ in read_archive_lines(open_file):
            line_count += 1
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise CommandError(
            f"cannot read {file} after line {line_count:,}: {why}; nothing is imported"
        ) from None
    open_file.seek(0)


def _format_store_counts(counts: StoreCounts) -> str:
    return f"matches: {counts.match_count}, finished: {counts.finished_match_count}, tokens: {counts.token_count}"
