"""Sends a frame of 8 MB as its move: more than the kernel keeps between the two, so that it hears the answer while it sends."""

from contextlib import suppress

from websockets.exceptions import ConnectionClosed

from testkit.wire import Wire, arguments

wire = Wire(*arguments())
wire.begin()
wire.hear("turn")
with suppress(ConnectionClosed):
    wire.socket.send(bytes(8_000_000))
wire.listen()
