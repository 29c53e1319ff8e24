"""Plays a move that the rules do not allow: the cell in its fourth argument, as the second of its moves."""

import sys

from testkit.wire import Wire, arguments, free_cell

wire = Wire(*arguments())
wire.begin()
turn = wire.hear("turn")
wire.say(type="move", match=turn["match"], ply=turn["ply"], move=free_cell(turn["moves"]))
turn = wire.hear("turn")
wire.say(type="move", match=turn["match"], ply=turn["ply"], move=int(sys.argv[4]))
wire.listen()
