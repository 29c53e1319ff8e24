"""Moves in its opponent's turn, again and again."""

from contextlib import suppress

from websockets.exceptions import ConnectionClosed

from testkit.wire import Wire, arguments

wire = Wire(*arguments())
start = wire.begin()
turn = wire.hear("turn")
wire.say(type="move", match=start["match"], ply=turn["ply"], move=4)
wire.hear("accepted")
with suppress(ConnectionClosed):
    for _ in range(20):
        wire.say(type="move", match=start["match"], ply=turn["ply"] + 1, move=0)
wire.listen()
