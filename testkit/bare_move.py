"""Peer that plays correctly until its first turn, and then sends bytes that are not a message."""

from __future__ import annotations

import struct

import msgpack

from testkit.bare import hear, say, shake_hands
from testkit.wire import arguments, report


def answer_with(data: bytes) -> None:
    """Run such a program: send `data` on each turn, and print all messages received and how the connection was closed."""
    url, name, token = arguments()
    bare = shake_hands(url)
    say(bare, type="hello", name=name, token=token)
    opcode, payload = hear(bare)
    while opcode != 8:
        message = msgpack.unpackb(payload)
        report(**message)
        if message["type"] == "start":
            say(bare, type="ready", match=message["match"])
        elif message["type"] == "turn":
            bare.sendall(data)
        opcode, payload = hear(bare)
    report(type="closed", code=struct.unpack("!H", payload[:2])[0], reason=payload[2:].decode())
    bare.close()
