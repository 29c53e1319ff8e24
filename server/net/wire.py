"""Messages as bytes on the line: one websocket frame each, made once for however many read it.

The server negotiates no extension, so what a frame looks like does not depend on whom it is for (RFC 6455,
section 5.2: frames of a server are not masked).
"""

from __future__ import annotations

from websockets.asyncio.connection import Connection
from websockets.protocol import State

from protocol.codec import encode
from protocol.messages import ServerMessage

WHOLE_BINARY = 0x82
"""How the frame of a binary message begins that is the whole of it."""


def to_wire(message: ServerMessage) -> bytes:
    """A message as one binary frame. Several may be joined: they are written as one, and read one by one."""
    # By hand: the library's frame takes 1 µs more, for each of the two messages of a move.
    data = encode(message)
    size = len(data)
    if size < 126:
        return bytes((WHOLE_BINARY, size)) + data
    if size < 1 << 16:
        return b"%c\x7e%b%b" % (WHOLE_BINARY, size.to_bytes(2, "big"), data)
    return b"%c\x7f%b%b" % (WHOLE_BINARY, size.to_bytes(8, "big"), data)


def write(connection: Connection, wire: bytes) -> None:
    """Write whole frames without waiting; what the line does not take stays in its buffer.

    Nothing is written to a connection that is closing: its reader will say so.
    """
    if connection.protocol.state is State.OPEN:
        connection.transport.write(wire)
