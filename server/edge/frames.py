"""Websocket frames of the server's messages: one frame per message."""

from __future__ import annotations

from websockets.frames import Frame, Opcode

from arena.protocol.codec import encode
from arena.protocol.messages import ServerMessage

BINARY = Opcode.BINARY


def encode_frame(message: ServerMessage) -> bytes:
    """Encode a message as one websocket frame. All receivers get the same bytes."""
    return Frame(BINARY, encode(message)).serialize(mask=False)
