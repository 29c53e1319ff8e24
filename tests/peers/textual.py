"""Sends its move as JSON in a text frame."""

import json

from testkit.wire import ProtocolPeer, read_arguments

wire = ProtocolPeer(*read_arguments())
wire.begin_match()
turn = wire.receive_type("turn")
wire.socket.send(json.dumps({"type": "move", "match": turn["match"], "ply": turn["ply"], "move": 4}))
wire.print_until_end()
