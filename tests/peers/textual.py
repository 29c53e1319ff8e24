"""Sends its move as JSON in a text frame."""

import json

from testkit.wire import Wire, arguments

wire = Wire(*arguments())
wire.begin()
turn = wire.hear("turn")
wire.socket.send(json.dumps({"type": "move", "match": turn["match"], "ply": turn["ply"], "move": 4}))
wire.listen()
