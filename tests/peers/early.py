"""Moves before the match has begun and before its turn has come; when it is its turn, plays on as it should."""

from testkit.wire import Wire, arguments, free_cell

wire = Wire(*arguments())
start = wire.hear("start")
match = start["match"]
wire.say(type="move", match=match, ply=0, move=4)
wire.hear("error")
wire.say(type="ready", match=match)
while (message := wire.hear("turn", "end"))["type"] == "turn":
    ply, cell = message["ply"], free_cell(message["moves"])
    wire.say(type="move", match=match, ply=ply, move=cell)
    # Not of its next turn: the opponent may have answered by the time that the server reads this.
    wire.say(type="move", match=match, ply=ply + 4, move=8)
wire.socket.close()
