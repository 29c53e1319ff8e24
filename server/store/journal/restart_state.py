"""Load the state from which a restarted server continues, and the accounts of clients that connect."""

from __future__ import annotations

from collections.abc import Container, Iterable
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.games.core import GameError
from arena.match.terms import from_json
from arena.protocol.values import Role
from arena.rating.glicko import Rating
from arena.server.core.bot import RECENT_RESULT_NS
from arena.server.core.inputs import RestoreMatches, UnfinishedMatch
from arena.server.store import database
from arena.server.store.aggregates.seasons import select_running_season_number
from arena.server.store.database import Engine
from arena.server.store.events import load_events
from arena.server.store.journal.reader import load_events_by_match
from arena.server.store.schema import matches, sessions, standings, tokens


async def load_restart_state(engine: Engine, server: str, event: str | None) -> RestoreMatches:
    """Return the state from which a server restarts.

    The state consists of the sessions of the server's bots, the recent matches whose results the bots may have missed,
    and, unless `event` is None, the server's unfinished events (tournaments) and matches.

    server: name of the server; empty for the server without a name
    event: event name under which matches of the server's open pool are stored; None to load neither events nor matches

    Raises StoreError if a match is of an unknown game.
    """
    query = sa.select(matches).where(matches.c.server == server, matches.c.finished.is_(None))
    query = query.order_by(matches.c.started, matches.c.number)
    async with database.open_query_connection(engine) as connection:
        events = [] if event is None else await load_events(connection, server)
        query = query.where(
            matches.c.event.in_([event, *(stored_event.state.plan.event for stored_event in events)])
        )
        rows = [] if event is None else (await connection.execute(query)).all()
        events_by_match = await load_events_by_match(connection, [row.match for row in rows])
        session_rows = await connection.execute(sa.select(sessions).where(sessions.c.server == server))
        secret_hashes = {row.name: bytes.fromhex(row.hash) for row in session_rows}
        recent_matches = await _load_finished_matches(connection, server, secret_hashes)
    unfinished_matches = []
    for row in rows:
        try:
            terms = from_json(row.terms)
        except GameError as error:
            raise database.StoreError(
                f"match {row.match} was in progress and cannot be resumed: {error}"
            ) from None
        unfinished_matches.append(UnfinishedMatch(terms, row.started, events_by_match.get(row.match, [])))
    return RestoreMatches(unfinished_matches, secret_hashes, recent_matches, events)


async def _load_finished_matches(
    connection: AsyncConnection, server: str, names: Container[str]
) -> dict[str, list[str]]:
    """Return the ids of a server's latest matches, by bot in `names`.

    These are the matches that ended at most RECENT_RESULT_NS before the end of the server's last match.
    """
    is_on_server = matches.c.server == server
    last_end = (
        await connection.execute(sa.select(sa.func.max(matches.c.finished)).where(is_on_server))
    ).scalar()
    if last_end is None:
        return {}
    oldest_time = database.format_timestamp(
        datetime.fromisoformat(last_end) - timedelta(microseconds=RECENT_RESULT_NS / 1000)
    )
    query = sa.select(matches.c.match, matches.c.maxie, matches.c.minnie)
    matches_by_bot: dict[str, list[str]] = {}
    for row in await connection.execute(
        query.where(is_on_server, matches.c.finished >= oldest_time).order_by(matches.c.finished)
    ):
        for name in (row.maxie, row.minnie):
            if name in names:
                matches_by_bot.setdefault(name, []).append(row.match)
    return matches_by_bot


class StoredAccount(Struct):
    """Stored data of a client's name: its token, session and ratings.

    A field has its default if nothing is stored for it.
    """

    token: str = ""
    """SHA-256 of the token, in hexadecimal; empty if the name has no token."""
    role: Role = "bot"
    is_revoked: bool = False
    """True if the token was revoked."""
    session: bytes = b""
    """SHA-256 of the session's secret; empty if the name has no session on this server."""
    ratings: dict[str, Rating] = {}
    """Ratings in the current season, by game."""
    owner: str = ""
    """Owner of the token; empty if the name has no token."""


async def load_accounts(engine: Engine, server: str, names: Iterable[str]) -> dict[str, StoredAccount]:
    """Return the stored data of each name, with one query for many names. `server`: server whose sessions are read."""
    accounts: dict[str, StoredAccount] = {}
    async with database.open_query_connection(engine) as connection:
        for chunk in database.split_into_chunks(sorted(set(names))):
            accounts |= {name: StoredAccount() for name in chunk}
            for row in await connection.execute(_ACCOUNTS, {"names": chunk, "server": server}):
                account = accounts[row.name]
                if row.kind == "token":
                    account.token, account.role, account.is_revoked = row.text, row.role, row.number != 0
                    account.owner = row.owner
                elif row.kind == "session":
                    account.session = bytes.fromhex(row.text)
                else:
                    account.ratings[row.text] = Rating(row.number, row.deviation)
    return accounts


def _build_account_query(
    kind: str,
    name: sa.Column[Any],
    text: sa.ColumnElement[Any],
    number: sa.ColumnElement[Any],
    role: sa.ColumnElement[Any],
    owner: sa.ColumnElement[Any],
    deviation: sa.ColumnElement[Any],
) -> sa.Select[Any]:
    """Return a query for one kind of data of names; `_ACCOUNTS` is the union of these queries.

    kind: `token`, `session` or `rating`, which decides what the other columns mean in `load_accounts`
    name, text, number, role, owner, deviation: expressions for the values of the columns with these names
    """
    names_parameter: sa.BindParameter[list[str]] = sa.bindparam("names", expanding=True)
    query: sa.Select[Any] = sa.select(
        sa.literal_column(f"'{kind}'").label("kind"),
        name.label("name"),
        text.label("text"),
        number.label("number"),
        role.label("role"),
        owner.label("owner"),
        deviation.label("deviation"),
    )
    return query.where(name.in_(names_parameter))


_EMPTY_TEXT = sa.literal_column("''", sa.String)
_ZERO = sa.literal_column("0.0", sa.Double)
_ACCOUNTS = sa.union_all(
    _build_account_query(
        "token",
        tokens.c.name,
        tokens.c.hash,
        sa.cast(sa.case((tokens.c.revoked.is_(None), 0), else_=1), sa.Double),
        tokens.c.role,
        tokens.c.owner,
        _ZERO,
    ),
    _build_account_query(
        "session", sessions.c.name, sessions.c.hash, _ZERO, _EMPTY_TEXT, _EMPTY_TEXT, _ZERO
    ).where(sessions.c.server == sa.bindparam("server", type_=sa.String)),
    _build_account_query(
        "rating",
        standings.c.bot,
        standings.c.game,
        standings.c.rating,
        _EMPTY_TEXT,
        _EMPTY_TEXT,
        standings.c.deviation,
    ).where(
        standings.c.time_control == "", standings.c.season == select_running_season_number(standings.c.game)
    ),
)
