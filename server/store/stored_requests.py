"""Requests to a running server through the store.

A request is a row of the table `requests`. A command of the host (the person who runs the server) writes the row. The server
reads the row, and writes its answer into the same row.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec
import sqlalchemy as sa
from msgspec import Struct

from arena.clock import MONOTONIC_CLOCK
from arena.match.terms import decode_game_hook, encode_game_hook
from arena.server.core.inputs import (
    ChangeTournament,
    FindConnectedClient,
    NumberedStoredRequest,
    StoredRequest,
)
from arena.server.store import database
from arena.server.store.aggregates.ratings import load_rating_rows_of_bot
from arena.server.store.database import Engine
from arena.server.store.lease import read_running_servers
from arena.server.store.schema import requests

ANSWER_TIMEOUT_SECONDS = 5.0
"""Maximum time to wait for a server's answer to a request, in seconds."""
FIRST_ANSWER_POLL_PAUSE_SECONDS = 0.05
"""Time from a request to the first check for its answer, in seconds.

Each later pause between two checks is twice as long as the previous one, up to a second.
"""


class RequestAnswer(Struct, frozen=True):
    """Answer of a server to a request of the host (the person who runs the server) or of a bot's owner."""

    text: str
    """Answer in one line, for the person who made the request."""
    succeeded: bool
    """True if the server carried out the request, or found the client that FindConnectedClient asks for; otherwise False."""


SendRequestViaStore = Callable[[str, StoredRequest], Awaitable[RequestAnswer | None]]
"""Function that sends a request to the server with a given name, and returns the answer; None if none comes in time."""


async def send_request_via_store(
    engine: Engine, server_name: str, request: StoredRequest
) -> RequestAnswer | None:
    """Send a request to a server through the store, and return the answer.

    Return None if no answer comes within ANSWER_TIMEOUT_SECONDS. An unanswered request stays in the store, so the server
    may still carry it out later.
    """
    text = msgspec.json.encode(request, enc_hook=encode_game_hook).decode()
    insert = sa.insert(requests).values(server=server_name, request=text).returning(requests.c.number)
    number = await database.run_in_transaction(
        engine, lambda connection: connection.execute(insert).scalar_one()
    )
    reply = await _wait_for_request_answer(engine, number)
    if reply is not None:
        delete = sa.delete(requests).where(requests.c.number == number)
        await database.run_in_transaction(engine, lambda connection: connection.execute(delete))
    return reply


async def _wait_for_request_answer(engine: Engine, request_number: int) -> RequestAnswer | None:
    """Return the answer to a request; None if no answer comes within ANSWER_TIMEOUT_SECONDS."""
    query = sa.select(requests.c.answer, requests.c.done)
    query = query.where(requests.c.number == request_number, requests.c.answer.is_not(None))
    end_time, pause_seconds = MONOTONIC_CLOCK.now() + ANSWER_TIMEOUT_SECONDS, FIRST_ANSWER_POLL_PAUSE_SECONDS
    while MONOTONIC_CLOCK.now() < end_time:
        await MONOTONIC_CLOCK.sleep(pause_seconds)
        pause_seconds = min(2 * pause_seconds, 1.0)
        row = (await database.fetch(engine, query)).one_or_none()
        if row is not None:
            return RequestAnswer(row.answer, bool(row.done))
    return None


async def is_client_connected(engine: Engine, client_name: str) -> bool | None:
    """Ask every running server on the store whether a client of this name is connected.

    Return True if a server has such a client, and False if every server answers that it has none. Return None if no server
    has reported such a client, but at least one has not answered.
    """
    async with database.open_query_connection(engine) as connection:
        servers = await connection.run_sync(read_running_servers)
    replies = [
        await send_request_via_store(engine, server.name, FindConnectedClient(client_name))
        for server in servers
    ]
    if any(reply is not None and reply.succeeded for reply in replies):
        return True
    return None if None in replies else False


async def make_event_entry_request(engine: Engine, event_name: str, bot_name: str) -> ChangeTournament:
    """Return the request to enter a bot in an event (tournament).

    The request contains the bot's stored ratings, because an event may admit only bots in a range of ratings.
    """
    rated = await load_rating_rows_of_bot(engine, bot_name)
    return ChangeTournament(event_name, "enter", bot_name, {row.game: row.rating for row in rated})


async def load_pending_requests(engine: Engine, server_name: str) -> list[NumberedStoredRequest]:
    """Return the unanswered requests to a server, the earliest first."""
    query = sa.select(requests.c.number, requests.c.request)
    query = query.where(requests.c.server == server_name, requests.c.answer.is_(None)).order_by(
        requests.c.number
    )
    rows = await database.fetch(engine, query)
    return [NumberedStoredRequest(row.number, _decode_request(row.request)) for row in rows]


_decode_request = msgspec.json.Decoder[StoredRequest](StoredRequest, dec_hook=decode_game_hook).decode
"""Function that decodes a stored request to a running server, such as the announcement of a tournament."""
