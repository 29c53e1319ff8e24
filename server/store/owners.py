"""Owners of bots: their bots, their invitations and their bans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import sqlalchemy as sa
from msgspec import Struct, field

from arena.games.name_hints import format_similar_name_hint
from arena.server.store import database
from arena.server.store.database import Engine
from arena.server.store.directives import load_directives
from arena.server.store.errors import OperationRefused
from arena.server.store.schema import invitations, tokens
from arena.server.store.tokens import StoredToken, list_tokens, make_token_from_row

MAX_REVOKED_NAMES_PER_OWNER = 20
"""Number of revoked names after which an owner may not register more names. A revoked name stays taken forever."""


class OwnerAccount(Struct, frozen=True):
    """Account of an owner (a person with bots), as shown to the owner: the owner's bots and open invitation."""

    owner: str
    bots: list[StoredToken]
    """Tokens of all the owner's bots, including revoked ones, in order of creation."""
    remaining_name_count: int
    """Number of names that the owner may still register.

    The number is 0 without an open invitation, and for an owner with MAX_REVOKED_NAMES_PER_OWNER revoked names.
    """
    invitation_end_time: str
    """End time of the open invitation, in the format of `database.format_current_time`; empty if none is open."""


class OwnerListEntry(Struct, frozen=True):
    """Owner with bots, invitation and ban, as shown to the host (the person who runs the server)."""

    owner: str
    bots: list[str]
    """Names of the owner's bots with a valid token, sorted."""
    retired_bots: list[str] = field(name="retired")
    """Sorted names of the owner's retired bots, whose tokens were revoked."""
    max_invited_bots: int = field(name="invited")
    """Maximum number of bots that the owner's open invitation allows; 0 without an open invitation."""
    invitation_end_time: str = field(name="until")
    """End time of the open invitation, in the format of `database.format_current_time`; empty if none is open."""
    ban_reason: str = field(name="banned")
    """Reason for the ban that is in force against the owner; empty if the owner is not banned."""


async def load_owner_account(engine: Engine, owner_name: str) -> OwnerAccount:
    """Return the account of an owner. The account of an unknown owner has no bots and no invitation."""
    async with database.open_query_connection(engine) as connection:
        return await connection.run_sync(read_owner_account, owner_name)


def read_owner_account(connection: sa.Connection, owner_name: str) -> OwnerAccount:
    """Return the account of an owner, as `load_owner_account` does, in the caller's transaction."""
    owner_query = sa.select(tokens).where(tokens.c.owner == owner_name, tokens.c.role == "bot")
    rows = connection.execute(owner_query.order_by(tokens.c.created, tokens.c.name))
    bots = [make_token_from_row(row) for row in rows]
    invited_bot_count, invitation_end_time = _read_open_invitations(
        connection, invitations.c.owner == owner_name
    ).get(owner_name, (0, ""))
    revoked_count = sum(bot.revocation_time is not None for bot in bots)
    free_places = (
        max(0, invited_bot_count - (len(bots) - revoked_count))
        if revoked_count < MAX_REVOKED_NAMES_PER_OWNER
        else 0
    )
    return OwnerAccount(owner_name, bots, free_places, invitation_end_time)


async def list_owners(engine: Engine) -> list[OwnerListEntry]:
    """Return every owner that has a bot or an open invitation, or is banned, sorted by name."""
    ban_reasons = {
        directive.subject: directive.text
        for directive in await load_directives(engine)
        if directive.kind == "owner"
    }
    bots_by_owner: defaultdict[str, list[StoredToken]] = defaultdict(list)
    for token in await list_tokens(engine):
        if token.role == "bot":
            bots_by_owner[token.owner].append(token)
    async with database.open_query_connection(engine) as connection:
        open_invitations = await connection.run_sync(_read_open_invitations)
    owners = []
    for owner in sorted({*open_invitations, *ban_reasons, *bots_by_owner}):
        valid_names = [bot.name for bot in bots_by_owner[owner] if bot.revocation_time is None]
        retired_names = [bot.name for bot in bots_by_owner[owner] if bot.revocation_time is not None]
        owners.append(
            OwnerListEntry(
                owner,
                valid_names,
                retired_names,
                *open_invitations.get(owner, (0, "")),
                ban_reasons.get(owner, ""),
            )
        )
    return owners


def _read_open_invitations(
    connection: sa.Connection, *conditions: sa.ColumnElement[bool]
) -> dict[str, tuple[int, str]]:
    """Return, for each owner with open invitations, the most bots that one of these allows, and their latest end time.

    conditions: further conditions on rows of the table `invitations`
    """
    max_bots, end_time = sa.func.max(invitations.c.bots), sa.func.max(invitations.c.expires)
    query = sa.select(invitations.c.owner, max_bots, end_time)
    is_open = invitations.c.expires >= database.format_current_time()
    query = query.where(is_open, *conditions).group_by(invitations.c.owner)
    return {row[0]: (row[1], row[2]) for row in connection.execute(query)}


async def require_owner(engine: Engine, owner_name: str) -> None:
    """Raise OperationRefused unless `list_owners` lists the owner. The error message suggests a similar name."""
    account = await load_owner_account(engine, owner_name)
    if account.bots or account.invitation_end_time:
        return  # the list takes tens of ms for thousands of bots
    owners = [summary.owner for summary in await list_owners(engine)]
    if owner_name not in owners:
        hint = format_similar_name_hint(owner_name, owners) or ": `arena owner list` shows all"
        raise OperationRefused(f"no owner is called {owner_name!r:.80}{hint}")


async def load_owner_names_by_bot(engine: Engine, bot_names: Iterable[str]) -> dict[str, str]:
    """Return the name of each bot's owner, by the bot's name. Bots without a token are left out."""
    owners: dict[str, str] = {}
    query = sa.select(tokens.c.name, tokens.c.owner)
    for chunk in database.split_into_chunks(bot_names):
        rows = await database.fetch(engine, query.where(tokens.c.name.in_(chunk)))
        owners |= {row.name: row.owner for row in rows}
    return owners


async def load_names_of_owner(engine: Engine, owner_name: str) -> list[str]:
    """Return the owner's own name, and the names of all the owner's tokens, including revoked ones, sorted."""
    query = sa.select(tokens.c.name).where(tokens.c.owner == owner_name)
    return sorted({owner_name, *(await database.fetch(engine, query)).scalars()})
