"""Sends messages as fast as it can, and prints how it was cut off."""

from websockets.exceptions import ConnectionClosed

from testkit.wire import ProtocolPeer, print_report, read_arguments

wire = ProtocolPeer(*read_arguments())
sent = 0
try:
    while sent < 200_000:
        wire.send(type="ready", match="no such match")
        sent += 1
except (ConnectionClosed, OSError):
    pass
try:
    while True:
        wire.socket.recv(timeout=500)
except (ConnectionClosed, OSError):
    pass
print_report(type="closed", code=wire.socket.close_code, reason=wire.socket.close_reason, sent=sent)
