"""`arena invite`: links with which people register names for their bots."""

from __future__ import annotations

import csv
import re
from contextlib import nullcontext
from io import StringIO
from pathlib import Path
from typing import Annotated

import typer

from arena.atomic_file import open_output_file
from arena.console import DatabaseOption, UsageError, err, explain_write_errors, validate_output_file
from arena.protocol.timecontrol import parse_duration
from arena.server.commands.store_access import DEFAULT_DATABASE_URL, require_valid_name_argument, run_on_store
from arena.server.store.invitations import create_invitations

MAX_INVITED_OWNERS = 10_000
"""Maximum number of owners that one command may invite."""
ROSTER_HEADER_WORDS = frozenset({"name", "owner"})
"""Headers of the first column of a roster (CSV file of owners), in lower case. A first row with such a header is skipped."""


def invite_command(
    owner: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[OWNER]...", help="Names of the bot owners to invite, unless --roster is given."
        ),
    ] = None,
    roster: Annotated[
        Path | None,
        typer.Option(
            "--roster",
            metavar="FILE",
            help='CSV file with owners in column 1; a header "name" or "owner" is skipped.',
        ),
    ] = None,
    bots: Annotated[
        int, typer.Option("--bots", metavar="N", min=1, max=100, help="Maximum number of bots per owner.")
    ] = 1,
    expires: Annotated[
        str, typer.Option("--expires", metavar="TIME", help="Validity of the links, e.g. 12h or 14d.")
    ] = "14d",
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="Base URL of the server's page, used in the links.")
    ] = "http://127.0.0.1:8765",
    csv: Annotated[
        Path,
        typer.Option(
            "--csv",
            metavar="FILE",
            callback=validate_output_file,
            help="Write the links as CSV to this file (- for standard output).",
        ),
    ] = Path("-"),
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Create links with which people register bots.

    A person who opens a link chooses names that are still free, for up to --bots bots, and gets a token for each. Links
    are shown only once. The matchmaker serves owners in turn, so an owner gets no more matches with two bots than with
    one.

    Example: arena invite --roster roster.csv --bots 2 --url https://arena.example --csv links.csv
    """
    owners = list(dict.fromkeys([*(owner or ()), *(_read_roster(roster) if roster else ())]))
    if not 1 <= len(owners) <= MAX_INVITED_OWNERS:
        raise UsageError(
            f"name 1 to {MAX_INVITED_OWNERS:,} owners, as arguments or in a file with --roster FILE"
        )
    for name in owners:  # before a missing store is created
        require_valid_name_argument(name)
    to_file = str(csv) != "-"
    output_name = str(csv) if to_file else "standard output"
    try:
        days = expires.removesuffix("d")
        is_in_days = days != expires and days.isdecimal() and int(days) > 0
        seconds = 86_400.0 * int(days) if is_in_days else parse_duration(expires)
        with explain_write_errors(output_name), open_output_file(csv) if to_file else nullcontext() as stream:

            def write_links(codes: dict[str, str]) -> None:
                with explain_write_errors(output_name):  # an OSError would be taken for a database error
                    typer.echo(_format_invitation_links_csv(codes, url), file=stream, nl=False)

            codes = run_on_store(
                db,
                lambda engine: create_invitations(engine, owners, bots, seconds, write_links),
                creates_missing_file=True,
            )
    except (ValueError, OverflowError):
        raise UsageError(f"--expires: {expires!r:.40} is not a duration: write 12h or 14d") from None
    err.print(f"links: {len(codes)}; bots per link: {bots}")


def _read_roster(roster_file: Path) -> list[str]:
    try:
        text = roster_file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"--roster: cannot read {roster_file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--roster: {roster_file} is not UTF-8 text") from None
    try:
        names = [row[0].strip() for row in csv.reader(StringIO(text)) if row and row[0].strip()]
    except csv.Error as error:
        raise UsageError(f"--roster: {roster_file} is not CSV: {error}") from None
    return names[1:] if names and names[0].casefold() in ROSTER_HEADER_WORDS else names


def _format_invitation_links_csv(code_by_owner: dict[str, str], server_url: str) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    # Addresses for bots begin with ws or wss.
    page_url = re.sub(r"^ws(?=s?://)", "http", server_url).rstrip("/")
    writer.writerow(("owner", "link"))
    writer.writerows((owner, f"{page_url}/join/{code}") for owner, code in code_by_owner.items())
    return text.getvalue()
