"""Announces a frame of 100 MB as its move, and sends more of it than the kernel keeps between the two: 8 MB.

Prints each received message and finally the close code and reason, each as a line of JSON.
"""

import struct

import msgpack

from testkit.bare import make_masked_frame, open_websocket, receive_frame, send_message
from testkit.wire import print_report, read_arguments

url, name, token = read_arguments()
bare = open_websocket(url)
send_message(bare, type="hello", name=name, token=token)
opcode, payload = receive_frame(bare)
while opcode != 8:
    message = msgpack.unpackb(payload)
    print_report(**message)
    if message["type"] == "start":
        send_message(bare, type="ready", match=message["match"])
    elif message["type"] == "turn":
        bare.sendall(make_masked_frame(bytes(100_000_000))[:8_000_000])
    opcode, payload = receive_frame(bare)
print_report(type="closed", code=struct.unpack("!H", payload[:2])[0], reason=payload[2:].decode())
bare.close()
