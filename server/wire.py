"""Messages as bytes on the line: one websocket frame each, made once for however many read it.

The server negotiates no extension, so what a frame looks like does not depend on whom it is for (RFC 6455,
section 5.2: frames of a server are not masked).
"""

from __future__ import annotations

from websockets.asyncio.connection import Connection
from websockets.frames import Frame, Opcode
from websockets.protocol import State

from protocol.codec import encode
from protocol.messages import ServerMessage


def to_wire(message: ServerMessage) -> bytes:
    """A message as one binary frame. Several may be joined: they are written as one, and read one by one."""
    return Frame(Opcode.BINARY, encode(message)).serialize(mask=False)


def write(connection: Connection, wire: bytes) -> None:
    """Write whole frames without waiting; what the line does not take stays in its buffer.

    Nothing is written to a connection that is closing: its reader will say so.
    """
    if connection.state is State.OPEN:
        connection.transport.write(wire)
