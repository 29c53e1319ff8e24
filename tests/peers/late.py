"""Moves when its flag has fallen, and once more after it was told the end.

The first move may itself be what shows a busy server that the flag fell; only the second is sure to find no match.
"""

import time

from testkit.wire import Wire, arguments, free_cell

wire = Wire(*arguments())
start = wire.begin()
turn = wire.hear("turn")
time.sleep((start["time_control"]["base_ms"] + start["margin_ms"]) / 1000 + 0.05)
late = {"type": "move", "match": turn["match"], "ply": turn["ply"], "move": free_cell(turn["moves"])}
wire.say(**late)
wire.hear("end")
wire.say(**late)
wire.hear("error")
wire.socket.close()
