"""Sends endless requests from its turn on, and reads none of the answers."""

import time

import msgpack

from testkit.bare import make_masked_frame, open_websocket, receive_frame, send_message
from testkit.wire import print_report, read_arguments

SECONDS = 25

url, name, token = read_arguments()
bare = open_websocket(url, receive_buffer=4096)
send_message(bare, type="hello", name=name, token=token)
kind = ""
while kind != "turn":
    message = msgpack.unpackb(receive_frame(bare)[1])
    print_report(**message)
    kind = message["type"]
    if kind == "start":
        send_message(bare, type="ready", match=message["match"])
unknown = make_masked_frame(b"\x81\xa4type\xa4noon") * 100
end = time.monotonic() + SECONDS
try:
    while time.monotonic() < end:
        bare.sendall(unknown)
except OSError as error:
    print_report(type="cut", error=type(error).__name__)
