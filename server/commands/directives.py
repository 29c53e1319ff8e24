"""`arena kick`, `ban` and `notice`: orders that all servers on the store carry out within a second."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from arena.console import CommandError, DatabaseOption, UsageError, err, print_table
from arena.games.name_hints import format_similar_name_hint
from arena.protocol.timecontrol import parse_duration
from arena.server.commands.store_access import DEFAULT_DATABASE_URL, require_valid_name_argument, run_on_store
from arena.server.store.database import Engine
from arena.server.store.directives import (
    KICKED_NAME_REFUSAL_SECONDS,
    MAX_DIRECTIVE_TEXT_LENGTH,
    DirectiveKind,
    issue_directive,
    lift_directive,
    load_directives,
    parse_ban_subject,
)
from arena.server.store.stored_requests import is_client_connected
from arena.server.store.tokens import load_all_client_names

ADDRESS_LIKE_PATTERN = re.compile(r"\d+(\.\d+){3}(/.*)?|[0-9a-fA-F]*:[0-9a-fA-F]*:[0-9a-fA-F:.]*(/.*)?")
"""Pattern of texts that look like an IP address or a network, such as `300.1.2.3`.

If such a text is not a valid address, `arena ban` rejects it as a typo. Taken as a bot's name instead, it would ban nobody.
"""
DurationOption = Annotated[
    str,
    typer.Option(
        "--for", metavar="TIME", help="Duration of the ban or notice, e.g. 10m or 2h, or 'ever' for no limit."
    ),
]
ReasonOption = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Reason shown to the disconnected client.")
]
LiftOption = Annotated[
    bool, typer.Option("--lift", help="Lift the ban, instead of imposing it.", show_default=False)
]


def kick(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the connected client to disconnect.")],
    reason: ReasonOption = "the host has closed the connection",
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Disconnect a bot now. It may reconnect after ten seconds.

    The bot's matches wait for it, as after any lost connection.

    Example: arena kick my-bot --reason "it stands still"
    """
    require_valid_name_argument(name)
    text = validate_directive_text(reason)

    async def issue_kick(engine: Engine) -> bool | None:
        connected = await is_client_connected(engine, name)
        if connected is False:
            known_names = await load_all_client_names(engine)
            if name in known_names:
                raise CommandError(f"{name} is not connected: to keep it away, use `arena ban`")
            raise CommandError(
                f"no client is called {name!r:.80}{format_similar_name_hint(name, known_names)}"
            )
        await issue_directive(engine, "name", name, text, KICKED_NAME_REFUSAL_SECONDS)
        return connected

    if run_on_store(db, issue_kick):
        err.print(f"{name} is disconnected")
    else:
        err.print(f"{name} is disconnected if it was connected: no server has answered yet")


def ban(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="NAME|ADDRESS", help="Name, address or network to ban; without it, list the bans."
        ),
    ] = "",
    reason: ReasonOption = "banned by the host",
    duration: DurationOption = "ever",
    lift: LiftOption = False,
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Disconnect a name or address now, and refuse it from now on.

    A ban of an IPv6 address covers its whole /64 network. A banned address cannot open the page either.

    Example: arena ban my-bot --for 24h

    Example: arena ban 192.0.2.7
    """
    if not subject:
        bans = [directive for directive in run_on_store(db, load_directives) if directive.kind != "notice"]
        rows = [
            [f"owner {ban.subject}" if ban.kind == "owner" else ban.subject, ban.end_time or "-", ban.text]
            for ban in bans
        ]
        print_table(dict.fromkeys(("banned", "until", "reason"), "left"), rows)
        return
    require_valid_name_argument(subject)
    kind, subject = parse_ban_subject(subject)
    if lift:
        lift_existing_directive(db, kind, subject)
        return
    if kind == "name" and ADDRESS_LIKE_PATTERN.fullmatch(subject):
        raise UsageError(f"{subject!r:.80} is not an address or a network: write 192.0.2.7 or 192.0.2.0/24")
    seconds, text = parse_duration_option(duration), validate_directive_text(reason)
    run_on_store(db, lambda engine: issue_directive(engine, kind, subject, text, seconds))
    err.print(f"{subject} is banned")


def notice(
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT", help="Notice to show to all clients; without it, print the current notice."
        ),
    ] = "",
    duration: DurationOption = "1h",
    lift: Annotated[
        bool, typer.Option("--lift", help="Withdraw the current notice.", show_default=False)
    ] = False,
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Send a notice to all bots, and show it on the web page.

    Example: arena notice "An upgrade at eight: matches go on after it." --for 30m
    """
    if lift:
        lift_existing_directive(db, "notice", "")
    elif text:
        seconds, notice_text = parse_duration_option(duration), validate_directive_text(text)
        run_on_store(db, lambda engine: issue_directive(engine, "notice", "", notice_text, seconds))
        err.print("the notice is sent")
    else:
        notices = [directive for directive in run_on_store(db, load_directives) if directive.kind == "notice"]
        for current_notice in notices:
            typer.echo(f"{current_notice.text} (until {current_notice.end_time or '`arena notice --lift`'})")
        if not notices:
            err.print("there is no notice: `arena notice TEXT` sends one")


def lift_existing_directive(db: str | None, kind: DirectiveKind, subject: str) -> None:
    """End a ban or the notice to all clients in a store. Raises CommandError if there is no such ban or no notice.

    db: URL of the store
    subject: name, address or network that is banned; empty for the notice
    """
    if not run_on_store(db, lambda engine: lift_directive(engine, kind, subject)):
        raise CommandError(
            f"{subject} is not banned: `arena ban` lists the bans"
            if subject
            else "there is no notice: `arena notice TEXT` sends one"
        )
    err.print(f"the ban of {subject} is lifted" if subject else "the notice is withdrawn")


def parse_duration_option(duration_text: str) -> float:
    """Return the number of seconds in the value of --for; infinity for `ever`. Raises UsageError for any other text."""
    try:
        return parse_duration(duration_text)
    except ValueError as error:
        raise UsageError(f"--for: {error}") from None


def validate_directive_text(directive_text: str) -> str:
    """Return the reason of a ban or the text of a notice unchanged. Raises UsageError if it is too long or unprintable."""
    if len(directive_text) > MAX_DIRECTIVE_TEXT_LENGTH:
        raise UsageError(
            f"the text has {len(directive_text)} characters; the limit is {MAX_DIRECTIVE_TEXT_LENGTH}"
        )
    for character in directive_text:
        if not character.isprintable():
            raise UsageError(f"the text has the unprintable character {character!r}: remove it")
    return directive_text
