"""Moves before the match has begun and before its turn has come; when it is its turn, plays on as it should."""

from testkit.wire import ProtocolPeer, find_free_cell, read_arguments

wire = ProtocolPeer(*read_arguments())
start = wire.receive_type("start")
match = start["match"]
wire.send(type="move", match=match, ply=0, move=4)
wire.receive_type("error")
wire.send(type="ready", match=match)
while (message := wire.receive_type("turn", "end"))["type"] == "turn":
    ply, cell = message["ply"], find_free_cell(message["moves"])
    wire.send(type="move", match=match, ply=ply, move=cell)
    # Not of its next turn: the opponent may have answered by the time that the server reads this.
    wire.send(type="move", match=match, ply=ply + 4, move=8)
wire.socket.close()
