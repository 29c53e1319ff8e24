"""Says hello and is ready, and then never moves."""

from testkit.wire import ProtocolPeer, read_arguments

wire = ProtocolPeer(*read_arguments())
wire.begin_match()
wire.print_until_end()
