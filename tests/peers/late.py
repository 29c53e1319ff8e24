"""Moves when its flag has fallen, and once more after it was told the end.

The first move may itself be what shows a busy server that the flag fell; only the second is sure to find no match.
"""

import time

from testkit.wire import ProtocolPeer, find_free_cell, read_arguments

wire = ProtocolPeer(*read_arguments())
start = wire.begin_match()
turn = wire.receive_type("turn")
time.sleep((start["time_control"]["base_ms"] + start["margin_ms"]) / 1000 + 0.05)
late = {"type": "move", "match": turn["match"], "ply": turn["ply"], "move": find_free_cell(turn["moves"])}
wire.send(**late)
wire.receive_type("end")
wire.send(**late)
wire.receive_type("error")
wire.socket.close()
