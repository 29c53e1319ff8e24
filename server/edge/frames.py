"""Websocket frames of the server's messages: one frame per message."""

from __future__ import annotations

from websockets.frames import Frame, Opcode

from arena.protocol.codec import encode
from arena.protocol.messages import ServerMessage

BINARY = Opcode.BINARY


def frame_of(message: ServerMessage) -> bytes:
    """Return the frame of a message. All receivers get the same bytes."""
    return Frame(BINARY, encode(message)).serialize(mask=False)
