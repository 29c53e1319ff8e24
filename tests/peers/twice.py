"""Sends every move twice, and once another move for a ply that it has played."""

from testkit.wire import Wire, arguments, free_cell

wire = Wire(*arguments())
start = wire.begin()
while (message := wire.hear("turn", "end"))["type"] == "turn":
    move = {"match": start["match"], "ply": message["ply"], "move": free_cell(message["moves"])}
    wire.say(type="move", **move)
    wire.say(type="move", **move)
    if message["ply"] < 2:
        wire.say(type="move", **{**move, "move": 8})
wire.socket.close()
