"""Sends the first half of the frame of its move, and then nothing."""

from contextlib import suppress

import msgpack

from testkit.bare import make_masked_frame, open_websocket, receive_frame, send_message
from testkit.wire import print_report, read_arguments

url, name, token = read_arguments()
bare = open_websocket(url)
send_message(bare, type="hello", name=name, token=token)
try:
    while True:
        opcode, payload = receive_frame(bare)
        if opcode != 2:
            break
        message = msgpack.unpackb(payload)
        print_report(**message)
        if message["type"] == "start":
            send_message(bare, type="ready", match=message["match"])
        elif message["type"] == "turn":
            whole = make_masked_frame(
                msgpack.packb({"type": "move", "match": message["match"], "ply": 0, "move": 4})
            )
            bare.sendall(whole[: len(whole) // 2])
        elif message["type"] == "end":
            break
finally:
    with suppress(OSError):
        bare.close()
