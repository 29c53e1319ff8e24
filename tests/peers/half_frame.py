"""Sends the first half of the frame of its move. A fourth argument, `hang` or `drop`, says what it does then."""

import sys
from contextlib import suppress

import msgpack

from testkit.bare import frame, hear, say, shake_hands
from testkit.wire import arguments, report

url, name, token = arguments()
bare = shake_hands(url)
say(bare, type="hello", name=name, token=token)
try:
    while True:
        opcode, payload = hear(bare)
        if opcode != 2:
            break
        message = msgpack.unpackb(payload)
        report(**message)
        if message["type"] == "start":
            say(bare, type="ready", match=message["match"])
        elif message["type"] == "turn":
            whole = frame(msgpack.packb({"type": "move", "match": message["match"], "ply": 0, "move": 4}))
            bare.sendall(whole[: len(whole) // 2])
            if sys.argv[4] == "drop":
                break
        elif message["type"] == "end":
            break
finally:
    with suppress(OSError):
        bare.close()
