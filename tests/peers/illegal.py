"""Plays a move that the rules do not allow: its own first cell once more."""

from testkit.wire import ProtocolPeer, find_free_cell, read_arguments

wire = ProtocolPeer(*read_arguments())
wire.begin_match()
turn = wire.receive_type("turn")
cell = find_free_cell(turn["moves"])
wire.send(type="move", match=turn["match"], ply=turn["ply"], move=cell)
turn = wire.receive_type("turn")
wire.send(type="move", match=turn["match"], ply=turn["ply"], move=cell)
wire.print_until_end()
