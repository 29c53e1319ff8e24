"""Client for tests that plays correctly until its first turn, and then sends bytes that are not a message."""

from __future__ import annotations

import struct

import msgpack

from testkit.bare import open_websocket, receive_frame, send_message
from testkit.wire import print_report, read_arguments


def send_on_each_turn(data: bytes) -> None:
    """Connect with the URL, name and token of the command line, and send `data`, unframed, in place of each move.

    Print each received message and finally the close code and reason, each as a line of JSON.
    """
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
            bare.sendall(data)
        opcode, payload = receive_frame(bare)
    print_report(type="closed", code=struct.unpack("!H", payload[:2])[0], reason=payload[2:].decode())
    bare.close()
