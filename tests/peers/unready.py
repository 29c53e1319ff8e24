"""Hears of its match and never says that it is ready."""

from testkit.wire import ProtocolPeer, read_arguments

ProtocolPeer(*read_arguments()).print_until_end()
