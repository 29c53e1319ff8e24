"""Websocket frames of the server's messages: one frame per message."""

from __future__ import annotations

from websockets.frames import Frame, Opcode

from arena.protocol.codec import encode
from arena.protocol.messages import ServerMessage

BINARY = Opcode.BINARY


def encode_frame(message: ServerMessage) -> bytes:
    """Return a message as one websocket frame. The same bytes fit all receivers."""
    return Frame(BINARY, encode(message)).serialize(mask=False)
