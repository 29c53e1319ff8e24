"""Minimal websocket client for load tests, which takes less CPU time than the client of a library."""

from __future__ import annotations

import asyncio
import struct
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Raw, Struct

from testkit.websocket_bytes import make_handshake_request, make_masked_frame

RECEIVE_BUFFER_BYTES = 64 * 1024
"""Size of a connection's buffer for received data, in bytes: small, so that many connections need little memory."""


class ServerMessage(Struct):
    """Message from the server, with only the fields that simulated clients need. Moves stay undecoded, to save time."""

    type: str
    match: Any = ""
    seat: str | None = None
    code: str = ""
    challenge: str = ""
    challenger: str = ""
    reason: str = ""
    ply: Any = 0
    moves: Raw = Raw(b"\x90")  # of a turn: the moves played so far; by default an empty list
    matches: list[dict[str, Any]] = []


_server_message_decoder = msgspec.msgpack.Decoder(ServerMessage)


class Client:
    """Websocket connection to a server, or to a relay, which passes frames between pairs of clients."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, **content: object) -> None:
        """Send a message with these fields. Raises OSError if the connection is lost."""
        await self.send_payload(msgspec.msgpack.encode(content))

    async def send_payload(self, payload: bytes) -> None:
        """Send a frame with this payload. Raises OSError if the connection is lost."""
        self._writer.write(make_masked_frame(payload))
        await self._writer.drain()

    async def receive(self) -> ServerMessage:
        """Return the next message. Raises OSError or EOFError if the connection is lost or closed."""
        return _server_message_decoder.decode(await self.receive_payload())

    async def receive_payload(self) -> bytes:
        """Return the payload of the next frame, and answer pings. Raises OSError or EOFError at the connection's end."""
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

    def close(self) -> None:
        """Close the connection without the websocket's closing handshake."""
        self._writer.close()


async def open_socket(
    url: str, source_address: str | None = None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a TCP connection to the server of a URL. Raises OSError if that fails.

    source_address: local address to connect from; None for the default
    """
    address = urlsplit(url)
    local_address = (source_address, 0) if source_address else None
    return await asyncio.open_connection(
        address.hostname, address.port, local_addr=local_address, limit=RECEIVE_BUFFER_BYTES
    )


async def open_client(url: str, source_address: str | None = None) -> Client:
    """Open a websocket, from the local address `source_address` if it is not None.

    Raises OSError if the server cannot be reached, and EOFError if it refuses the handshake.
    """
    reader, writer = await open_socket(url, source_address)
    address = urlsplit(url)
    writer.write(make_handshake_request(address.netloc, path=address.path or "/"))
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        raise EOFError("the server closed the connection before it answered the handshake") from None
    if b" 101 " not in head.partition(b"\r\n")[0]:
        raise EOFError("the server refused the websocket handshake")
    return Client(reader, writer)


async def connect(url: str, source_address: str | None = None, **hello: object) -> Client:
    """Open a websocket, send a hello with these fields, and wait for the welcome.

    source_address: local address to connect from; None for the default

    Raises OSError if the server cannot be reached, and EOFError if it refuses the connection or the hello.
    """
    client = await open_client(url, source_address)
    await client.send(type="hello", **hello)
    message = await client.receive()
    if message.type != "welcome":
        raise EOFError(f"the server refused the hello: {message.code}")
    return client
