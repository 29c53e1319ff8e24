"""Directives of the host (the person who runs the servers): bans and kicks, and a notice to all clients.

A ban is on a name, an owner or an address. A kick is a ban of a name for some seconds. Every server on the store reads
the directives each second, and applies them.
"""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_network
from typing import Literal

import sqlalchemy as sa
from msgspec import Struct, field, to_builtins
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.server.abuse_counter import make_address_key
from arena.server.store import database
from arena.server.store.database import Engine
from arena.server.store.schema import directives, tokens

DirectiveKind = Literal["name", "owner", "address", "notice"]
"""Kind of a directive: a ban of one name, of all bots of an owner, or of an IP address or network; or a notice to all clients.

A kick is a short ban of a name.
"""

KICKED_NAME_REFUSAL_SECONDS = 10.0
"""Time for which servers refuse a kicked name, in seconds: long enough for all servers to read it from the store."""
MAX_DIRECTIVE_TEXT_LENGTH = 500
"""Maximum length of a notice (message to all clients), or of the reason for a ban or a kick, in characters."""
REVOKED_NAME_BAN_SECONDS = 60.0
"""Time for which `load_directives_and_banned_names` returns a name after the revocation of its token, in seconds.

Servers call this function every second, so each of them disconnects the bot.
"""


class Directive(Struct, frozen=True):
    """Directive (a ban, a kick, or a notice to all clients) of the host, the person who runs the servers."""

    kind: DirectiveKind
    subject: str
    """Banned name, owner or network; empty for a notice to all clients."""
    text: str
    """Reason for a ban or a kick, as shown to the client; or the text of a notice to all clients."""
    end_time: str = field(name="until")
    """End time of the directive, in the format of `database.format_current_time`; empty if it does not end."""


def parse_ban_subject(ban_target: str) -> tuple[DirectiveKind, str]:
    """Return the kind and the subject of a ban for `ban_target`, which is an IP address, a network or a name.

    For an IP address, the subject is a network: for IPv4 only this address, for IPv6 its /64 network.
    """
    try:
        return "address", str(ip_network(make_address_key(ban_target), strict=False))
    except ValueError:
        return "name", ban_target


async def issue_directive(
    engine: Engine, kind: DirectiveKind, subject: str, directive_text: str, duration_seconds: float
) -> None:
    """Issue a directive (ban, kick or notice), which replaces an earlier one of the same kind and subject.

    subject: banned name, owner or network; empty for a notice
    directive_text: reason for the ban or kick, or the text of the notice
    duration_seconds: time from now after which the directive ends; infinity for no end
    """
    try:
        expiry_time = database.format_current_time(timedelta(seconds=duration_seconds))
    except OverflowError:
        expiry_time = ""
    statement = database.make_upsert(engine.dialect.name, directives)
    row = to_builtins(Directive(kind, subject, directive_text, expiry_time))
    await database.run_in_transaction(engine, lambda connection: connection.execute(statement, [row]))


async def lift_directive(engine: Engine, kind: DirectiveKind, subject: str) -> bool:
    """End a ban, a kick or the notice to all clients. Return False if no directive of this kind and subject is stored."""
    values = {"kind": kind, "subject": subject}
    return await database.run_in_transaction(
        engine, lambda connection: bool(connection.execute(_DELETE_DIRECTIVE, values).rowcount)
    )


async def load_directives(engine: Engine) -> list[Directive]:
    """Return the bans, kicks and notices that are now in force, sorted by kind and subject."""
    async with database.open_query_connection(engine) as connection:
        return await _read_directives(connection)


async def _read_directives(connection: AsyncConnection) -> list[Directive]:
    rows = (
        await connection.execute(_SELECT_ACTIVE_DIRECTIVES, {"now": database.format_current_time()})
    ).all()
    return [Directive(*row) for row in rows]


async def load_directives_and_banned_names(engine: Engine) -> tuple[list[Directive], dict[str, str]]:
    """Return a list of the bans, kicks and notices now in force, and the reason for each name that may not connect, by name.

    The names are the banned names, all names of banned owners, and the names whose tokens were revoked in the last
    REVOKED_NAME_BAN_SECONDS.
    """
    revoked_since = database.format_current_time(-timedelta(seconds=REVOKED_NAME_BAN_SECONDS))
    # One connection for both queries, because every server asks once a second.
    async with database.open_query_connection(engine) as connection:
        directives = await _read_directives(connection)
        banned = {directive.subject: directive.text for directive in directives if directive.kind == "owner"}
        rows = (
            await connection.execute(_SELECT_BANNED_NAMES, {"since": revoked_since, "owners": list(banned)})
        ).all()
    names = {row.name: banned.get(row.owner, "its token was revoked") for row in rows}
    return directives, names | {
        directive.subject: directive.text for directive in directives if directive.kind == "name"
    }


async def find_ban(engine: Engine, kind: DirectiveKind, subject: str) -> Directive | None:
    """Return the ban of this kind that is in force against a subject; None if the subject is not banned."""
    current = await load_directives(engine)
    return next(
        (directive for directive in current if (directive.kind, directive.subject) == (kind, subject)), None
    )


_DELETE_DIRECTIVE = sa.delete(directives).where(
    directives.c.kind == sa.bindparam("kind"), directives.c.subject == sa.bindparam("subject")
)
_SELECT_ACTIVE_DIRECTIVES = (
    sa.select(directives)
    .where((directives.c.until > sa.bindparam("now")) | (directives.c.until == ""))
    .order_by(directives.c.kind, directives.c.subject)
)
_SELECT_BANNED_NAMES = (
    sa.select(tokens.c.name, tokens.c.owner)
    .where(
        (tokens.c.revoked > sa.bindparam("since"))
        | tokens.c.owner.in_(sa.bindparam("owners", expanding=True))
    )
    .order_by(tokens.c.name)
)
