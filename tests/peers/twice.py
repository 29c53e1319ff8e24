"""Sends every move twice, and once another move for a ply that it has played."""

from testkit.wire import ProtocolPeer, find_free_cell, read_arguments

wire = ProtocolPeer(*read_arguments())
start = wire.begin_match()
while (message := wire.receive_type("turn", "end"))["type"] == "turn":
    move = {"match": start["match"], "ply": message["ply"], "move": find_free_cell(message["moves"])}
    wire.send(type="move", **move)
    wire.send(type="move", **move)
    if message["ply"] < 2:
        wire.send(type="move", **{**move, "move": 8})
wire.socket.close()
