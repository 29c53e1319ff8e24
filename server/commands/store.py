"""`arena backup`, `restore`, `export` and `import`: what is in a store, in a file, and back."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from io import BufferedIOBase
from pathlib import Path
from typing import Annotated, TextIO

import anyio
import typer

from arena.console import DatabaseOption, Failure, OwnGamesOption, know_games
from arena.server.commands.in_store import DATABASE, check_there, in_store
from arena.server.commands.output import say
from arena.server.store.archive import Imported, export_lines, import_lines, read_lines
from arena.server.store.backup import Contents, backup, restore
from arena.server.store.database import Engine, StoreError

GZIP = b"\x1f\x8b"
"""How a file begins that gzip has compressed."""


def register(app: typer.Typer) -> None:
    """Add `backup`, `restore`, `export` and `import` to the `arena` command."""
    app.command("backup")(backup_command)
    app.command("restore")(restore_command)
    app.command("export")(export_command)
    app.command("import")(import_command)


def backup_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup: a file that is not there yet.")],
    db: DatabaseOption = DATABASE,
) -> None:
    """Copy a whole store into a file while servers use it: matches, journals, tokens, ratings.

    The file is an SQLite store, whichever database it comes from: `arena serve --db` opens it as it is,
    and `arena restore` puts it into another. Whoever has it can read all matches, but no token.

    Example: arena backup --db postgresql://arena@db/arena arena-2026-11-20.db
    """
    url = db or DATABASE
    check_there(url)
    try:
        found = anyio.run(backup, url, file)
    except StoreError as error:
        raise Failure(str(error)) from None
    except OSError as error:
        raise Failure(f"cannot write {file}: {error.strerror}") from None
    say(f"{file}: {_words(found)}")


def restore_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `arena backup` wrote.")],
    db: DatabaseOption = DATABASE,
) -> None:
    """Put a backup into an empty store, of either kind: all of it, or nothing.

    Example: arena restore --db postgresql://arena@db/arena arena-2026-11-20.db
    """

    async def work(engine: Engine) -> Contents:
        try:
            return await restore(engine, file)
        except OSError as error:
            raise Failure(f"cannot read {file}: {error.strerror}") from None

    say(f"restored {_words(in_store(db, work, make=True))}")


def export_command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.jsonl", help="Where the records go; - is the output.")
    ],
    event: Annotated[
        str | None, typer.Option("--event", metavar="NAME", help="Only the matches of this event.")
    ] = None,
    db: DatabaseOption = DATABASE,
) -> None:
    """Write the finished matches of a store as records, one JSON a line, in the order in which they came in.

    `arena replay` steps through them, and `arena import` takes them into another store.

    Example: arena export --db sqlite:///arena.db --event serve matches.jsonl
    """

    to_file = str(file) != "-"

    async def work(engine: Engine) -> int:
        count = 0
        with _whole_file(file) if to_file else nullcontext() as written:
            async for line in export_lines(engine, event):
                typer.echo(line, file=written)
                count += 1
        return count

    count = in_store(db, work)
    say(f"{count} matches are in {file}" if to_file else f"{count} matches")


@contextmanager
def _whole_file(path: Path) -> Iterator[TextIO]:
    """A file that takes its name, and another's place, only when all of it is written. Raises Failure."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w", encoding="utf-8") as written:
            yield written
        part.replace(path)
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def import_command(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE.jsonl", help="Records, one JSON a line; gzip may have compressed it."),
    ],
    trust: Annotated[
        bool,
        typer.Option(
            "--trust", help="Matches that say so are rated: for files of your own, as anybody can write one."
        ),
    ] = False,
    game: OwnGamesOption = None,
    db: DatabaseOption = DATABASE,
) -> None:
    """Take records into a store, after replaying each by the rules; twice is as good as once.

    A line that is no record, that the rules do not bear out, that tells of a time that cannot be, or of a
    match otherwise than the store does, is named and left out; the others go in. None counts for the
    ratings without --trust.

    Example: arena import --db sqlite:///arena.db ladder.jsonl

    Example: arena import --trust old/matches-000000000001-000000001000.jsonl.gz
    """

    know_games(game)

    async def work(engine: Engine) -> Imported:
        try:
            with _opened(file) as lines:
                return await import_lines(engine, read_lines(lines), trust=trust)
        except (OSError, EOFError, zlib.error) as error:
            raise Failure(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None

    done = in_store(db, work, make=True)
    for number, why in sorted(done.bad.items()):
        say(f"{file}, line {number}: {why}")
    told = f"{done.added} matches are new, {done.known} were there already, {len(done.bad)} lines are bad"
    if done.bad:
        raise Failure(told)
    say(told)


def _opened(file: Path) -> BufferedIOBase:
    """A file of records, which may be compressed by gzip."""
    with file.open("rb") as opened:
        packed = opened.read(len(GZIP)) == GZIP
    return gzip.open(file) if packed else file.open("rb")


def _words(found: Contents) -> str:
    return f"matches: {found.matches}, finished: {found.finished}, tokens: {found.tokens}"
