"""Sends bytes that mean nothing as its move."""

from testkit.wire import Wire, arguments

wire = Wire(*arguments())
wire.begin()
wire.hear("turn")
wire.socket.send(b"\xc1\xff\x00garbage")
wire.listen()
