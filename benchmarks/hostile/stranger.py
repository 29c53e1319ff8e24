"""Stranger: a client of the benchmark that sends as many requests as the server's limits allow, and counts the answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from arena.server.edge.token_bucket import TokenBucket
from benchmarks.kit.client import Client, ServerMessage, connect, open_socket
from testkit.attackers import ConnectionCounts

MAX_MESSAGE_BURST = 150
"""Number of messages that a stranger may send at once: fewer than 200, above which the server disconnects a client."""
MESSAGES_PER_SECOND = 45.0
"""Messages per second that a stranger sends after its first MAX_MESSAGE_BURST: fewer than the server's limit of 50."""
RECONNECT_PAUSE_SECONDS = 0.02
"""Seconds from the end of a stranger's connection to its next connection: the round trip time of a typical network."""


@dataclass
class TrafficCounts(ConnectionCounts):
    """Counts of requests and of their answers.

    answer_count: number of answers that are not counted in `rate_limited_count`
    """

    answer_count: int = 0
    rate_limited_count: int = 0
    """Number of answers that refuse a request because of a limit: error code `rate_limited`, or HTTP status 429."""


@dataclass
class RequestParameters:
    """Ids, names and URL paths that exist on the benchmarked server, for use in requests.

    tokens: token of each client, by the client's name
    finished_match_ids: ids of finished matches
    script_path: URL path of the website's script
    """

    url: str
    tokens: dict[str, str]
    live_match_ids: list[str] = field(default_factory=list)
    """Ids of matches in progress."""
    finished_match_ids: list[str] = field(default_factory=list)
    large_match_ids: list[str] = field(default_factory=list)
    """Ids of finished matches with analysis (`thinking`) of maximum size."""
    match_ids_and_bots: list[tuple[str, str]] = field(default_factory=list)
    """Finished matches of the clients, as (match id, client's name)."""
    script_path: str = "/web/"

    @property
    def bot_names(self) -> list[str]:
        """Names of the clients that have a token, sorted."""
        return sorted(self.tokens)

    def pick_finished_match(self, request_number: int) -> str:
        """Return the id of a finished match, a different match for each number; `none` if there are no finished matches."""
        ids = self.finished_match_ids
        return ids[request_number % len(ids)] if ids else "none"


@dataclass
class Stranger:
    """Client that sends one kind of request from the address `source_address`, without exceeding the limit on messages.

    answer_types: types of the messages that count as answers
    client: connection; None if the requests open connections of their own, or if the server refused the connection
    """

    parameters: RequestParameters
    number: int
    source_address: str
    counts: TrafficCounts
    answer_types: frozenset[str]
    client: Client | None = None
    name: str = ""
    _message_rate_limit: TokenBucket = field(
        default_factory=lambda: TokenBucket(MESSAGES_PER_SECOND, MAX_MESSAGE_BURST, time.monotonic_ns())
    )

    async def connect(self, **hello: Any) -> None:
        """Connect, and send a hello with these fields.

        Raises OSError if the server cannot be reached, and EOFError if it refuses the connection or the hello.
        """
        self.name = hello["name"]
        self.client = await connect(self.parameters.url, self.source_address, **hello)

    async def send(self, **content: object) -> None:
        """Send a message with these fields as soon as the rate limit allows. Raises OSError if the connection is lost."""
        while not self._message_rate_limit.try_take_token(time.monotonic_ns()):  # noqa: ASYNC110
            await asyncio.sleep(1 / MESSAGES_PER_SECOND)
        self.counts.request_count += 1
        await self.send_without_rate_limit(**content)

    async def send_without_rate_limit(self, **content: object) -> None:
        """Send a message that does not count against the server's limits, such as a move. Raises OSError if the connection is
        lost.
        """
        await self._connection.send(**content)

    async def receive(self) -> ServerMessage:
        """Return the next message. Count an error `rate_limited` as a refusal.

        Count any other error, and a message of a type in `answer_types`, as an answer.

        Raises OSError or EOFError if the connection is lost or closed.
        """
        message = await self._connection.receive()
        if message.code == "rate_limited":
            self.counts.rate_limited_count += 1
        elif message.type in self.answer_types or message.type == "error":
            self.counts.answer_count += 1
        return message

    async def receive_until_closed(self) -> None:
        """Read and count all messages. Raises OSError or EOFError when the connection ends."""
        while True:
            await self.receive()

    async def send_while_reading(self, send: Callable[[], Awaitable[None]]) -> None:
        """Await `send()`, which sends requests, and read all messages that arrive meanwhile, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.receive_until_closed())
            await send()

    def close_connection(self) -> None:
        """Close the websocket connection, if there is one."""
        if self.client is not None:
            self.client.close()

    @property
    def _connection(self) -> Client:
        if self.client is None:
            raise EOFError(f"client {self.number} is not connected: the server refused its connection")
        return self.client


async def send_http_request(
    url: str,
    source_address: str,
    path: str,
    counts: TrafficCounts,
    authorization: str = "",
    method: str = "GET",
) -> tuple[str, bytes]:
    """Send an HTTP request on a new connection, count the response, and return its status and its body.

    url: URL of the server
    source_address: local address to connect from
    path: path of the request's URL, with the query
    authorization: value of the Authorization header; empty for none

    Raises OSError if the server cannot be reached, and EOFError if it closes the connection without a response.
    """
    reader, writer = await open_socket(url, source_address)
    try:
        authorization_line = f"Authorization: {authorization}\r\n" if authorization else ""
        counts.request_count += 1
        host = urlsplit(url).netloc
        head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{authorization_line}\r\n"
        writer.write(head.encode())
        response = await reader.read(-1)
    finally:
        writer.close()
    status = response[9:12].decode(errors="replace")
    if not response:
        raise EOFError("no response")
    if status == "429":
        counts.rate_limited_count += 1
    else:
        counts.answer_count += 1
    return status, response.partition(b"\r\n\r\n")[2]


async def repeat_until_cancelled(action: Callable[[], Awaitable[None]], counts: TrafficCounts) -> None:
    """Repeat an action until cancelled. Count each OSError or EOFError of the action as a lost connection in `counts`."""
    while True:
        try:
            await action()
        except (OSError, EOFError):
            counts.lost_connection_count += 1
        await asyncio.sleep(RECONNECT_PAUSE_SECONDS)
