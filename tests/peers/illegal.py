"""Plays a move that the rules do not allow: the cell in its fourth argument, as the second of its moves."""

import sys

from testkit.wire import ProtocolPeer, find_free_cell, read_arguments

wire = ProtocolPeer(*read_arguments())
wire.begin_match()
turn = wire.receive_type("turn")
wire.send(type="move", match=turn["match"], ply=turn["ply"], move=find_free_cell(turn["moves"]))
turn = wire.receive_type("turn")
wire.send(type="move", match=turn["match"], ply=turn["ply"], move=int(sys.argv[4]))
wire.print_until_end()
