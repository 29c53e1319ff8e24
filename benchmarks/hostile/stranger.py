"""Client that follows the protocol, keeps within all limits, and counts the answers."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from arena.server.edge.token_bucket import TokenBucket
from benchmarks.kit.client import Client, ServerMessage, connect, open_socket
from testkit.horde import ConnectionCounts

MESSAGES_AT_ONCE = 150
"""Number of messages that a stranger may send at once, fewer than the 200 that count as a flood."""
MESSAGES_PER_SECOND = 45.0
"""Messages per second after this burst, fewer than the 50 that count as a flood."""
KNOCK_SECONDS = 0.02
"""Seconds from the end of a stranger's connection to its next one, as long as a realistic network latency."""


@dataclass
class TrafficCounts(ConnectionCounts):
    """Counts of requests and of their answers. `answered`: number of answers that are no refusal because of a limit."""

    answered: int = 0
    refused: int = 0
    """Number of answers that refuse a request because of a limit: error code `rate_limited`, or HTTP status 429."""


class Stranger:
    """Connection of a stranger, which sends within the rate limit."""

    def __init__(self, client: Client, name: str, counts: TrafficCounts) -> None:
        self.name = name
        self._client = client
        self._counts = counts
        self._pace = TokenBucket(MESSAGES_PER_SECOND, MESSAGES_AT_ONCE, time.monotonic_ns())

    async def send(self, **content: object) -> None:
        """Send a message with these fields as soon as the rate limit allows. Raises OSError if the connection is lost."""
        while not self._pace.try_take_token(time.monotonic_ns()):  # noqa: ASYNC110
            await asyncio.sleep(1 / MESSAGES_PER_SECOND)
        self._counts.sent += 1
        await self.send_answer(**content)

    async def send_answer(self, **content: object) -> None:
        """Send a message that no limit counts, such as a move. Raises OSError if the connection is lost."""
        await self._client.send(**content)

    async def receive(self) -> ServerMessage:
        """Return the next message. Raises OSError or EOFError if the connection is lost or closed."""
        return await self._client.receive()

    async def read_all(self, answer_types: frozenset[str]) -> None:
        """Read and count all messages. Raises OSError or EOFError when the connection ends.

        answer_types: types of the messages that count as answers
        """
        while True:
            self.count_message(await self.receive(), answer_types)

    def count_message(self, message: ServerMessage, answer_types: frozenset[str]) -> None:
        """Count a message: `rate_limited` as a refusal, other errors and the types in `answer_types` as answers."""
        if message.code == "rate_limited":
            self._counts.refused += 1
        elif message.type in answer_types or message.type == "error":
            self._counts.answered += 1

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


@asynccontextmanager
async def connected(url: str, source: str, counts: TrafficCounts, **hello: Any) -> AsyncIterator[Stranger]:
    """Connect from the local address `source`, send a hello with these fields, and disconnect at the end of the block.

    Raises OSError if the server cannot be reached, and EOFError if it refuses the connection or the hello.
    """
    stranger = Stranger(await connect(url, source, **hello), hello["name"], counts)
    try:
        yield stranger
    finally:
        stranger.close()


async def send_get(
    url: str, source: str, path: str, counts: TrafficCounts, authorization: str = "", method: str = "GET"
) -> tuple[str, bytes]:
    """Send an HTTP request on a new connection, count the response, and return its status and its body.

    authorization: value of the Authorization header; empty for none

    Raises OSError if the server cannot be reached, and EOFError if it closes the connection without a response.
    """
    reader, writer = await open_socket(url, source)
    try:
        authorization_line = f"Authorization: {authorization}\r\n" if authorization else ""
        counts.sent += 1
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
        counts.refused += 1
    else:
        counts.answered += 1
    return status, response.partition(b"\r\n\r\n")[2]


async def repeat_until_cancelled(
    action: Callable[[], Awaitable[object]], counts: TrafficCounts, pause: float = KNOCK_SECONDS
) -> None:
    """Repeat an action until cancelled. Count each OSError or EOFError of the action as a lost connection.

    pause: seconds between two actions
    """
    for _ in itertools.count():
        try:
            await action()
        except (OSError, EOFError):
            counts.lost += 1
        await asyncio.sleep(pause)
