"""From its turn on it says what must be answered, and reads none of the answers for a while.

The fourth argument is that while, in seconds; then it reads what there is, to the end of the connection.
"""

import struct
import sys
import time

import msgpack

from tests.peers.bare import frame, hear, say, shake_hands
from tests.peers.wire import arguments, report

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
end = time.monotonic() + float(sys.argv[4])
try:
    while time.monotonic() < end:
        bare.sendall(unknown)
    while (heard := hear(bare))[0] != 8:
        pass
    report(type="closed", code=struct.unpack("!H", heard[1][:2])[0], reason=heard[1][2:].decode())
except (OSError, EOFError) as error:
    report(type="cut", error=type(error).__name__)
