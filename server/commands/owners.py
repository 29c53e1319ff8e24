"""`arena owner`, `arena rename` and `arena forget`: manage owners and names while servers use the store."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.console import (
    CommandError,
    DatabaseOption,
    JsonOption,
    err,
    print_table,
    print_table_or_write_json,
)
from arena.games.name_hints import format_similar_name_hint
from arena.server.commands.directives import (
    DurationOption,
    LiftOption,
    ReasonOption,
    lift_existing_directive,
    parse_duration_option,
    validate_directive_text,
)
from arena.server.commands.store_access import DEFAULT_DATABASE_URL, run_on_store
from arena.server.store import owners, personal_data, renaming, tokens
from arena.server.store.database import Engine
from arena.server.store.directives import issue_directive
from arena.server.store.renaming import NameChange

OwnerArgument = Annotated[
    str, typer.Argument(metavar="OWNER", help="Owner name, as shown by `arena owner list`.")
]


def list_(db: DatabaseOption = DEFAULT_DATABASE_URL, json: JsonOption = None) -> None:
    """List owners with their bots, invitations and bans.

    Example: arena owner list
    """
    summaries = run_on_store(db, owners.list_owners)
    rows = [
        [
            summary.owner,
            ", ".join(summary.bots) or "-",
            ", ".join(summary.retired_bots) or "-",
            f"{summary.max_invited_bots} until {summary.invitation_end_time}"
            if summary.invitation_end_time
            else "-",
            summary.ban_reason or "-",
        ]
        for summary in summaries
    ]
    columns = ("owner", "bots", "retired", "invited", "banned")
    print_table_or_write_json(summaries, json, dict.fromkeys(columns, "left"), rows)


def hide(owner: OwnerArgument, db: DatabaseOption = DEFAULT_DATABASE_URL) -> None:
    """Replace the names of all bots of an owner with random ones.

    Tables of results, records and preview pictures show the new names, and the bots connect with them from then on. `arena rename` restores
    a name.

    Example: arena owner hide ada
    """

    async def hide_all_bots_of_owner(engine: Engine) -> list[tuple[str, str, int]]:
        changes = await renaming.make_name_changes_hiding_bots(engine, owner)
        return [
            (change.name, change.new_name, await renaming.rename_bot(engine, change)) for change in changes
        ]

    rows = [
        [name, hidden_name, str(count)]
        for name, hidden_name, count in run_on_store(db, hide_all_bots_of_owner)
    ]
    print_table({"name": "left", "is now": "left", "matches": "right"}, rows)


def ban(
    owner: OwnerArgument,
    reason: ReasonOption = "banned by the host",
    duration: DurationOption = "ever",
    lift: LiftOption = False,
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Disconnect all bots of an owner now, and refuse them from now on.

    New bots of the owner are refused too.

    `arena ban` lists the bans in force.

    Example: arena owner ban ada --for 168h
    """
    if lift:
        lift_existing_directive(db, "owner", owner)
        return
    seconds, text = parse_duration_option(duration), validate_directive_text(reason)

    async def ban_all_bots_of_owner(engine: Engine) -> None:
        await owners.require_owner(engine, owner)
        await issue_directive(engine, "owner", owner, text, seconds)

    run_on_store(db, ban_all_bots_of_owner)
    err.print(f"{owner} and all bots of {owner} are banned")


def rename(
    name: Annotated[str, typer.Argument(metavar="OLD", help="Current name of the bot, connected or not.")],
    new_name: Annotated[str, typer.Argument(metavar="NEW", help="New name of the bot, not in use yet.")],
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Rename a bot, which keeps its token, ratings, records and logs.

    A connected bot is disconnected, and loses a match in progress. The old name stays taken. A bot in an event that has
    begun can be renamed when the event is over.

    Example: arena rename wolf tiger
    """
    count = run_on_store(db, lambda engine: renaming.rename_bot(engine, NameChange(name, new_name)))
    err.print(f"{name} is renamed to {new_name}, with {count} matches")


def forget_bot_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the bot, connected or not.")],
    db: DatabaseOption = DEFAULT_DATABASE_URL,
) -> None:
    """Delete a bot's token, sessions and logs; its records get a random name.

    With the last bot of an owner, the owner's invitations and bans are deleted too. NAME may be an owner without bots.
    Ratings and tables of results stay, under the random name. Backups, archives and record files are not changed.

    Example: arena forget my-bot
    """

    async def forget_bot_by_name(engine: Engine) -> personal_data.ForgottenBot:
        if not await personal_data.is_name_stored(engine, name):
            suggestion = format_similar_name_hint(name, await tokens.load_all_client_names(engine))
            raise CommandError(f"nothing is stored about {name!r:.80}{suggestion}")
        return await renaming.forget_bot(engine, name)

    replacement, count = run_on_store(db, forget_bot_by_name)
    err.print(f"{name} is deleted; its {count} matches now belong to {replacement}")


SUBCOMMAND_FUNCTIONS = (list_, hide, ban)
