"""Sends endless requests from its turn on, and reads none of the answers."""

import time

import msgpack

from testkit.bare import frame, hear, say, shake_hands
from testkit.wire import arguments, report

SECONDS = 25

url, name, token = arguments()
bare = shake_hands(url, receive_buffer=4096)
say(bare, type="hello", name=name, token=token)
kind = ""
while kind != "turn":
    message = msgpack.unpackb(hear(bare)[1])
    report(**message)
    kind = message["type"]
    if kind == "start":
        say(bare, type="ready", match=message["match"])
unknown = frame(b"\x81\xa4type\xa4noon") * 100
end = time.monotonic() + SECONDS
try:
    while time.monotonic() < end:
        bare.sendall(unknown)
except OSError as error:
    report(type="cut", error=type(error).__name__)
