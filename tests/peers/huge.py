"""Sends a frame of 100 MB as its move."""

from contextlib import suppress

from websockets.exceptions import ConnectionClosed

from testkit.wire import Wire, arguments

wire = Wire(*arguments())
wire.begin()
wire.hear("turn")
with suppress(ConnectionClosed):
    wire.socket.send(bytes(100_000_000))
wire.listen()
