"""Breaks RFC 6455: its move's frame has a reserved bit set and an opcode that does not exist."""

import struct

import msgpack

from testkit.bare import frame, hear, say, shake_hands
from testkit.wire import arguments, report

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
        bare.sendall(frame(b"move", opcode=5, first=0xC0))
    opcode, payload = hear(bare)
report(type="closed", code=struct.unpack("!H", payload[:2])[0], reason=payload[2:].decode())
bare.close()
