"""Sends bytes that mean nothing as its move."""

from testkit.wire import ProtocolPeer, read_arguments

wire = ProtocolPeer(*read_arguments())
wire.begin_match()
wire.receive_type("turn")
wire.socket.send(b"\xc1\xff\x00garbage")
wire.print_until_end()
