"""Hears of its match and never says that it is ready."""

from tests.peers.wire import Wire, arguments

Wire(*arguments()).listen()
