"""Hears of its match and never says that it is ready."""

from testkit.wire import Wire, arguments

Wire(*arguments()).listen()
