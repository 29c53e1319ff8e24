"""What a client makes of bytes on the line."""

from __future__ import annotations

from websockets.client import ClientProtocol
from websockets.frames import Frame
from websockets.protocol import State
from websockets.uri import parse_uri

from arena.protocol.codec import decode_server
from arena.protocol.messages import ServerMessage


def from_wire(wire: bytes) -> list[ServerMessage]:
    """The messages in whole frames, as a client of `websockets` reads them. Raises where it would not."""
    client = ClientProtocol(parse_uri("ws://arena"), state=State.OPEN)
    client.receive_data(wire)
    if client.parser_exc is not None:
        raise client.parser_exc
    frames = [frame for frame in client.events_received() if isinstance(frame, Frame)]
    return [decode_server(bytes(frame.data)) for frame in frames]
