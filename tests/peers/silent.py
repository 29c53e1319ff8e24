"""Says hello and is ready, and then never moves."""

from testkit.wire import Wire, arguments

wire = Wire(*arguments())
wire.begin()
wire.listen()
