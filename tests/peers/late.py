"""Moves when its flag has fallen: after the `end` if there is one by then, and after its time in any case."""

import time

from tests.peers.wire import Wire, arguments, free_cell

wire = Wire(*arguments())
start = wire.begin()
turn = wire.hear("turn")
time.sleep((start["time_control"]["base_ms"] + start["margin_ms"]) / 1000 + 0.05)
wire.say(type="move", match=turn["match"], ply=turn["ply"], move=free_cell(turn["moves"]))
wire.hear("end")
wire.hear("error")
wire.socket.close()
