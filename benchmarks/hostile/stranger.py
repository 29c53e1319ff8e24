"""Client on a bare socket that follows the protocol, keeps within all limits, and counts the answers."""

from __future__ import annotations

import asyncio
import itertools
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgpack
import msgspec
from msgspec import Struct

from arena.server.edge.token_bucket import TokenBucket
from testkit.bare import make_handshake_request, make_masked_frame
from testkit.horde import ConnectionCounts

MESSAGES_AT_ONCE = 150
"""Number of messages that a stranger may send at once, fewer than the 200 that count as a flood."""
MESSAGES_PER_SECOND = 45.0
"""Messages per second after this burst, fewer than the 50 that count as a flood."""
KNOCK_SECONDS = 0.02
"""Seconds from the end of a stranger's connection to its next one, as long as a realistic network latency."""
SMALL_BUFFER = 64 * 1024


class StrangerMessage(Struct):
    """Message from the server, with only the fields that a stranger needs."""

    type: str
    match: str | None = None
    seat: str | None = None
    code: str = ""
    challenge: str = ""
    challenger: str = ""
    session: str = ""
    ply: int | None = None
    moves: list[Any] = []
    matches: list[Any] = []


_decoder = msgspec.msgpack.Decoder(StrangerMessage)


@dataclass
class TrafficCounts(ConnectionCounts):
    """Counts of requests and of their answers. `answered`: number of answers that are no refusal because of a limit."""

    answered: int = 0
    refused: int = 0
    """Number of answers that refuse a request because of a limit: error code `rate_limited`, or HTTP status 429."""
    codes: dict[str, int] = field(default_factory=dict)
    """Number of answers by error code or HTTP status."""

    def count_code(self, code: str) -> None:
        """Count an answer with this error code or HTTP status."""
        self.codes[code] = self.codes.get(code, 0) + 1


class Stranger:
    """Websocket connection of a stranger, which sends within the rate limit."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, counts: TrafficCounts
    ) -> None:
        self.name = ""
        self.tally = counts
        self.session = ""
        self._reader = reader
        self._writer = writer
        self._pace = TokenBucket(MESSAGES_PER_SECOND, MESSAGES_AT_ONCE, time.monotonic_ns())

    async def send(self, **content: object) -> None:
        """Send a message with these fields as soon as the rate limit allows. Raises OSError if the connection is lost."""
        while not self._pace.try_take_token(time.monotonic_ns()):  # noqa: ASYNC110
            await asyncio.sleep(1 / MESSAGES_PER_SECOND)
        self.tally.sent += 1
        await self.send_answer(**content)

    async def send_answer(self, **content: object) -> None:
        """Send a message that no limit counts, such as a move. Raises OSError if the connection is lost."""
        self._writer.write(make_masked_frame(msgpack.packb(content)))
        await self._writer.drain()

    async def receive(self) -> StrangerMessage:
        """Return the next message. Raises OSError or EOFError if the connection is lost or closed."""
        payload = await self._read_frame()
        self.tally.bytes += len(payload)
        output = _decoder.decode(payload)
        if output.type == "error":
            self.tally.count_code(output.code)
        return output

    async def read_all(self, answer_types: frozenset[str]) -> None:
        """Read and count all messages. Raises OSError or EOFError when the connection ends.

        answer_types: types of the messages that count as answers
        """
        while True:
            self.count_message(await self.receive(), answer_types)

    def count_message(self, message: StrangerMessage, answer_types: frozenset[str]) -> None:
        """Count a message: `rate_limited` as a refusal, other errors and the types in `answer_types` as answers."""
        if message.code == "rate_limited":
            self.tally.refused += 1
        elif message.type in answer_types or message.type == "error":
            self.tally.answered += 1

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()

    async def _read_frame(self) -> bytes:
        while True:
            try:
                first, size = await self._reader.readexactly(2)
                if size == 126:
                    (size,) = struct.unpack("!H", await self._reader.readexactly(2))
                elif size == 127:
                    (size,) = struct.unpack("!Q", await self._reader.readexactly(8))
                payload = await self._reader.readexactly(size)
            except asyncio.IncompleteReadError:
                raise EOFError("the server has ended the connection") from None
            match first & 0x0F:
                case 8:
                    raise EOFError("the server sent a close frame")
                case 9:
                    self._writer.write(make_masked_frame(payload, 10))
                case 2:
                    return payload


async def open_websocket(url: str, source: str, counts: TrafficCounts) -> Stranger:
    """Open a websocket from the local address `source`, without a hello.

    Raises OSError if the server cannot be reached, and EOFError if it refuses the handshake.
    """
    reader, writer = await open_socket(url, source)
    address = urlsplit(url)
    writer.write(make_handshake_request(address.netloc, path=address.path or "/"))
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        raise EOFError("the server has ended the connection") from None
    if b" 101 " not in head.partition(b"\r\n")[0]:
        raise EOFError("the server refused the websocket handshake")
    return Stranger(reader, writer, counts)


async def connect(url: str, source: str, counts: TrafficCounts, **hello: Any) -> Stranger:
    """Connect from the local address `source`, send a hello with these fields, and wait for the welcome.

    Raises OSError if the server cannot be reached, and EOFError if it refuses the connection or the hello.
    """
    stranger = await open_websocket(url, source, counts)
    stranger.name = hello["name"]
    await stranger.send_answer(type="hello", **hello)
    message = await stranger.receive()
    if message.type != "welcome":
        raise EOFError(f"the server refused the hello: {message.code}")
    stranger.session = message.session
    return stranger


@asynccontextmanager
async def connected(url: str, source: str, counts: TrafficCounts, **hello: Any) -> AsyncIterator[Stranger]:
    """Connect as `connect` does, and disconnect at the end of the block."""
    stranger = await connect(url, source, counts, **hello)
    try:
        yield stranger
    finally:
        stranger.close()


async def open_socket(url: str, source: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a TCP connection to the server of a URL, from the local address `source`. Raises OSError if that fails."""
    address = urlsplit(url)
    return await asyncio.open_connection(
        address.hostname, address.port, local_addr=(source, 0), limit=SMALL_BUFFER
    )


async def send_get(
    url: str, source: str, path: str, counts: TrafficCounts, authorization: str = "", method: str = "GET"
) -> bytes:
    """Send an HTTP request on a new connection, count the response, and return its body. `authorization`: header's value.

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
    counts.bytes += len(response)
    counts.count_code(status)
    if status == "429":
        counts.refused += 1
    else:
        counts.answered += 1
    return response.partition(b"\r\n\r\n")[2]


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
