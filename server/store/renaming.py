"""Rename bots, and delete their data, while servers use the store.

A directive (a temporary ban in the store) makes the servers disconnect the bot and refuse its name. Once the bot has no
match in progress, the name is changed, or the data deleted, in the store.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec import Struct

from arena.clock import MONOTONIC_CLOCK
from arena.server.core.inputs import RenameTournamentEntry
from arena.server.store import owners, personal_data, stored_requests
from arena.server.store.database import Engine
from arena.server.store.directives import (
    KICKED_NAME_REFUSAL_SECONDS,
    find_ban,
    issue_directive,
    lift_directive,
)
from arena.server.store.names import HIDDEN_BOT_NAME_PREFIX
from arena.server.store.personal_data import NameInRunningEvent, NameInUse
from arena.server.store.tokens import TokenError

DIRECTIVE_EFFECT_DELAY_SECONDS = 2.0
"""Longest time until every server has read a new directive, such as a ban, from the store and applied it, in seconds."""
MAX_WAIT_UNTIL_IDLE_SECONDS = 60.0
"""Maximum time to wait for the end of a disconnected bot's matches before it is renamed or deleted, in seconds."""

T = TypeVar("T")


class NameChange(Struct, frozen=True):
    """Change of a bot's name from `name` to `new_name`."""

    name: str
    new_name: str


async def make_name_changes_hiding_bots(engine: Engine, owner_name: str) -> list[NameChange]:
    """Return the changes that hide all bots of an owner under new random names. Nothing is renamed yet.

    Bots that are hidden already are left out. Retired bots, whose tokens were revoked, are included if they have played.
    Raises TokenError if the owner has no bot.
    """
    bots = (await owners.load_owner_account(engine, owner_name)).bots
    if not bots:
        raise TokenError(f"{owner_name!r:.80} has no bots: `arena owner list` lists the owners that do")
    # Retired names without matches, such as the old names of renamed bots, have nothing left to hide.
    return [
        NameChange(bot.name, personal_data.make_hidden_name())
        for bot in bots
        if not bot.name.startswith(HIDDEN_BOT_NAME_PREFIX)
        and (bot.revocation_time is None or await personal_data.has_matches(engine, bot.name))
    ]


async def rename_bot(engine: Engine, change: NameChange) -> int:
    """Rename a bot in all stored data, its bans and its entries in tournaments. Return the number of its matches.

    A rename takes some seconds, and up to MAX_WAIT_UNTIL_IDLE_SECONDS longer if the bot has a match in progress. Raises
    NameInUse if the match does not end in time or the bot is in a tournament or ladder that has begun, and TokenError
    if the new name is not available.
    """
    name, new_name = change.name, change.new_name
    await personal_data.require_possible_rename(engine, name, new_name)
    is_banned = await find_ban(engine, "name", name) is not None
    count = await _run_while_bot_is_idle(
        engine,
        name,
        "the host renames it",
        lambda: personal_data.rename_in_store(engine, name, new_name, transfers_ban=is_banned),
        is_banned=is_banned,
    )
    await _rename_event_entries(engine, name, new_name)
    # For some seconds, servers refuse the old name and name the new one as the reason, and they drop cached answers.
    is_hidden = new_name.startswith(HIDDEN_BOT_NAME_PREFIX)
    message = "the host has hidden this name" if is_hidden else f"this name is {new_name!r:.80} now"
    await issue_directive(engine, "name", name, message, KICKED_NAME_REFUSAL_SECONDS)
    return count


async def forget_bot(engine: Engine, name: str) -> personal_data.ForgottenBot:
    """Delete the personal data of a bot, and replace its name in its matches.

    Return the new name and the number of the bot's matches. Like `rename_bot`, this waits for the bot's matches in
    progress. Raises NameInUse if one of them does not end in time, or if the bot is in a tournament or ladder that has begun.
    """
    await personal_data.require_not_in_running_event(engine, name)
    is_banned = await find_ban(engine, "name", name) is not None
    deleted = await _run_while_bot_is_idle(
        engine,
        name,
        "the host deletes it",
        lambda: personal_data.forget_name(engine, name),
        is_banned=is_banned,
    )
    await _rename_event_entries(engine, name, "")
    return deleted


async def _rename_event_entries(engine: Engine, name: str, new_name: str) -> None:
    """Ask the servers to rename a bot in tournaments that have not begun; with an empty `new_name`, to remove the bot."""
    for server in await personal_data.list_servers_with_event_entry(engine, name):
        await stored_requests.send_request_via_store(engine, server, RenameTournamentEntry(name, new_name))


async def _run_while_bot_is_idle(
    engine: Engine, bot_name: str, ban_reason: str, operation: Callable[[], Awaitable[T]], *, is_banned: bool
) -> T:
    """Ban a name, repeat `operation` until it no longer raises NameInUse, lift the ban, and return the result.

    ban_reason: reason for the ban, which is shown to a bot of this name
    is_banned: True if the name is banned already, and so must stay banned afterwards

    Raises NameInUse if the bot still has a match in progress after MAX_WAIT_UNTIL_IDLE_SECONDS. Raises NameInRunningEvent
    without waiting if the bot is in a tournament or ladder that has begun.
    """
    if not is_banned:
        await issue_directive(
            engine,
            "name",
            bot_name,
            ban_reason,
            DIRECTIVE_EFFECT_DELAY_SECONDS + MAX_WAIT_UNTIL_IDLE_SECONDS + KICKED_NAME_REFUSAL_SECONDS,
        )
    try:
        await MONOTONIC_CLOCK.sleep(DIRECTIVE_EFFECT_DELAY_SECONDS)
        end_time = MONOTONIC_CLOCK.now() + MAX_WAIT_UNTIL_IDLE_SECONDS
        while True:
            try:
                return await operation()
            except NameInRunningEvent:
                raise
            except NameInUse:
                if MONOTONIC_CLOCK.now() > end_time:
                    raise
            await MONOTONIC_CLOCK.sleep(DIRECTIVE_EFFECT_DELAY_SECONDS / 4)
    finally:
        if not is_banned:
            await lift_directive(engine, "name", bot_name)
