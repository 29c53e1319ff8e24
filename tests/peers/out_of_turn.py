"""Moves in its opponent's turn, again and again."""

from contextlib import suppress

from websockets.exceptions import ConnectionClosed

from testkit.wire import ProtocolPeer, read_arguments

wire = ProtocolPeer(*read_arguments())
start = wire.begin_match()
turn = wire.receive_type("turn")
wire.send(type="move", match=start["match"], ply=turn["ply"], move=4)
wire.receive_type("accepted")
with suppress(ConnectionClosed):
    for _ in range(20):
        wire.send(type="move", match=start["match"], ply=turn["ply"] + 1, move=0)
wire.print_until_end()
