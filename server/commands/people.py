"""`arena owner`, `arena rename` and `arena forget`: manage owners and names while servers use the store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer
from msgspec import to_builtins

from arena.clock import MONOTONIC
from arena.console import CommandError, DatabaseOption, JsonOption, err, print_table, write_json
from arena.server.commands.directives import (
    ForOption,
    LiftOption,
    ReasonOption,
    check_text,
    lift_directive,
    parse_duration,
)
from arena.server.commands.in_store import DATABASE, in_store
from arena.server.core.inputs import RenameEntry
from arena.server.store import events, people
from arena.server.store.database import Engine
from arena.server.store.directives import KICK_SECONDS, in_force, issue, lift
from arena.server.store.people import NameInEvent, NameInUse
from arena.server.store.tokens import TokenError

LOOK_SECONDS = 2.0
"""Time within which every server notices a ban, in seconds."""
WAIT_SECONDS = 60.0
"""Maximum wait for a banned name's matches in progress, in seconds."""

OwnerArgument = Annotated[
    str, typer.Argument(metavar="OWNER", help="Owner name, as shown by `arena owner list`.")
]
T = TypeVar("T")


def register(app: typer.Typer) -> None:
    """Add `owner`, `rename` and `forget` to the `arena` command."""
    owner = typer.Typer(help="List, hide and ban the owners of bots.", no_args_is_help=True)
    for command in (list_, hide, ban):
        owner.command(command.__name__.rstrip("_"))(command)
    app.add_typer(owner, name="owner")
    app.command("rename")(rename)
    app.command("forget")(forget_command)


def list_(db: DatabaseOption = DATABASE, json: JsonOption = None) -> None:
    """List owners with their bots, invitations and bans.

    Example: arena owner list
    """
    owners = in_store(db, people.list_owners)
    if json is not None:
        write_json(to_builtins(owners), json)
        return
    rows = [
        [
            each.owner,
            ", ".join(each.bots) or "-",
            ", ".join(each.retired) or "-",
            f"{each.invited} until {each.until}" if each.until else "-",
            each.banned or "-",
        ]
        for each in owners
    ]
    print_table(dict.fromkeys(("owner", "bots", "retired", "invited", "banned"), "left"), rows)


def hide(owner: OwnerArgument, db: DatabaseOption = DATABASE) -> None:
    """Replace the names of all bots of an owner with meaningless ones.

    Tables, records and previews show the new names, and the bots use them from then on. `arena rename` restores a name.

    Example: arena owner hide ada
    """

    async def work(engine: Engine) -> list[tuple[str, str, int]]:
        lines = next((each for each in await people.list_owners(engine) if each.owner == owner), None)
        names = [] if lines is None else [*lines.bots, *lines.retired]
        if not names:
            raise CommandError(f"{owner!r:.80} has no bots: `arena owner list` shows all owners")
        changes = []
        for name in names:
            other = people.hidden_name()
            changes.append((name, other, await _rename(engine, name, other, "the host has hidden this name")))
        return changes

    rows = [[name, other, str(count)] for name, other, count in in_store(db, work)]
    print_table({"name": "left", "is now": "left", "matches": "right"}, rows)


def ban(
    owner: OwnerArgument,
    reason: ReasonOption = "the host has banned it",
    seconds: ForOption = "ever",
    lifted: LiftOption = False,
    db: DatabaseOption = DATABASE,
) -> None:
    """Disconnect all bots of an owner now, and refuse them and new ones.

    `arena ban` lists the bans in force.

    Example: arena owner ban ada --for 168h
    """
    if lifted:
        lift_directive(db, "owner", owner)
        return
    length, text = parse_duration(seconds), check_text(reason)
    in_store(db, lambda engine: issue(engine, "owner", owner, text, length))
    err.print(f"{owner} and all bots of {owner} are banned")


def rename(
    name: Annotated[str, typer.Argument(metavar="OLD", help="Name of a bot, connected or not.")],
    other: Annotated[str, typer.Argument(metavar="NEW", help="New name, not in use.")],
    db: DatabaseOption = DATABASE,
) -> None:
    """Rename a bot with its token, ratings, records and logs.

    A connected bot is disconnected, and loses a match in progress. The old name stays taken. A bot in an event that has
    begun can be renamed when the event is over.

    Example: arena rename wolf tiger
    """
    message = f"this name is {other!r:.80} now"
    count = in_store(db, lambda engine: _rename(engine, name, other, message))
    err.print(f"{name} is renamed to {other}, with {count} matches")


def forget_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a bot, connected or not.")],
    db: DatabaseOption = DATABASE,
) -> None:
    """Delete a name's token, sessions and logs, and rename its records.

    With the last bot of an owner, invitations and bans of the owner are deleted too. NAME may be an owner without bots.
    Ratings and tables stay, under the new name. Backups, archives and record files are not changed.

    Example: arena forget my-bot
    """

    async def work(engine: Engine) -> tuple[str, int]:
        deleted = await _run_when_idle(
            engine, name, "the host deletes it", lambda: people.forget(engine, name)
        )
        await _rename_entries(engine, name, "")
        return deleted

    other, count = in_store(db, work)
    err.print(f"{name} is deleted; its {count} matches now belong to {other}")


async def _rename(engine: Engine, name: str, other: str, message: str) -> int:
    """Rename a bot and its bans, and return the number of its matches. Raises CommandError."""
    banned = await _is_banned(engine, name)
    count = await _run_when_idle(
        engine, name, "the host renames it", lambda: people.rename(engine, name, other)
    )
    await _rename_entries(engine, name, other)
    if not banned:
        await lift(engine, "name", other)
    # For a while, bots that return under the old name get the new one as the reason, and servers drop cached answers.
    await issue(engine, "name", name, message, KICK_SECONDS)
    return count


async def _rename_entries(engine: Engine, name: str, other: str) -> None:
    """Request from servers to rename a bot in events that have not begun, or to remove it if `other` is empty."""
    for server in await people.servers_with_entry(engine, name):
        await events.send_request(engine, server, RenameEntry(name, other))


async def _is_banned(engine: Engine, name: str) -> bool:
    return any((each.kind, each.subject) == ("name", name) for each in await in_force(engine))


async def _run_when_idle(engine: Engine, name: str, why: str, work: Callable[[], Awaitable[T]]) -> T:
    """Ban a name, and run `work` once the name has no match in progress. Then lift the ban. Raises CommandError.

    A ban that was already in force stays.
    """
    try:
        await people.check_events(engine, name)
    except NameInEvent as error:
        raise CommandError(str(error)) from None
    banned = await _is_banned(engine, name)
    if not banned:
        await issue(engine, "name", name, why, LOOK_SECONDS + WAIT_SECONDS + KICK_SECONDS)
    try:
        await MONOTONIC.sleep(LOOK_SECONDS)
        end = MONOTONIC.now() + WAIT_SECONDS
        while True:
            try:
                return await work()
            except NameInUse as error:
                if isinstance(error, NameInEvent) or MONOTONIC.now() > end:
                    raise CommandError(str(error)) from None
            except TokenError as error:
                raise CommandError(str(error)) from None
            await MONOTONIC.sleep(LOOK_SECONDS / 4)
    finally:
        if not banned:
            await lift(engine, "name", name)
