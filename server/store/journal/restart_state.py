"""Load the stored state (sessions, tournaments and unfinished matches) from which a restarted server continues."""

from __future__ import annotations

from collections.abc import Container, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.games.core import GameError
from arena.match.terms import decode_terms
from arena.server.core.bot import MAX_RESENT_RESULT_AGE_NS
from arena.server.core.event_state import StoredEvent
from arena.server.core.inputs import RestoredState, UnfinishedMatch
from arena.server.store import database, errors
from arena.server.store.database import Engine
from arena.server.store.events import read_unfinished_events_of_server
from arena.server.store.journal.reader import read_events_by_match
from arena.server.store.schema import matches, sessions


async def load_restart_state(engine: Engine, server_name: str, event_name: str | None) -> RestoredState:
    """Return the state from which a server restarts.

    The state consists of the sessions of the server's bots, the recent matches whose results the bots may have missed,
    and, unless `event_name` is None, the server's unfinished events (tournaments) and matches.

    server_name: name of the server; empty for the server without a name
    event_name: event name under which the server's matches of no tournament are stored; None to load neither events nor matches

    Raises StoreError if a match is of an unknown game.
    """
    events: list[StoredEvent] = []
    rows: Sequence[sa.Row[Any]] = []
    async with database.open_query_connection(engine) as connection:
        if event_name is not None:
            events = await read_unfinished_events_of_server(connection, server_name)
            names = [event_name, *(stored_event.state.plan.event_name for stored_event in events)]
            query = sa.select(matches).where(matches.c.server == server_name, matches.c.finished.is_(None))
            query = query.where(matches.c.event.in_(names))
            rows = (await connection.execute(query.order_by(matches.c.started, matches.c.number))).all()
        events_by_match = await read_events_by_match(connection, [row.match for row in rows])
        session_rows = await connection.execute(sa.select(sessions).where(sessions.c.server == server_name))
        secret_hashes = {row.name: bytes.fromhex(row.hash) for row in session_rows}
        recent_matches = await _read_recent_match_ids(connection, server_name, secret_hashes)
    unfinished_matches = []
    for row in rows:
        try:
            terms = decode_terms(row.terms)
        except GameError as error:
            raise errors.StoreError(
                f"match {row.match} was in progress and cannot be resumed: {error}"
            ) from None
        unfinished_matches.append(UnfinishedMatch(terms, row.started, events_by_match.get(row.match, [])))
    return RestoredState(unfinished_matches, secret_hashes, recent_matches, events)


async def _read_recent_match_ids(
    connection: AsyncConnection, server_name: str, bot_names: Container[str]
) -> dict[str, list[str]]:
    """Return the ids of the latest matches that each bot of `bot_names` played on a server, by bot.

    The latest matches are those that ended at most MAX_RESENT_RESULT_AGE_NS before the end of the server's last match.
    """
    is_on_server = matches.c.server == server_name
    last_end = (
        await connection.execute(sa.select(sa.func.max(matches.c.finished)).where(is_on_server))
    ).scalar()
    if last_end is None:
        return {}
    oldest_time = database.format_store_timestamp(
        datetime.fromisoformat(last_end) - timedelta(microseconds=MAX_RESENT_RESULT_AGE_NS / 1000)
    )
    query = sa.select(matches.c.match, matches.c.maxie, matches.c.minnie)
    matches_by_bot: dict[str, list[str]] = {}
    for row in await connection.execute(
        query.where(is_on_server, matches.c.finished >= oldest_time).order_by(matches.c.finished)
    ):
        for name in (row.maxie, row.minnie):
            if name in bot_names:
                matches_by_bot.setdefault(name, []).append(row.match)
    return matches_by_bot
