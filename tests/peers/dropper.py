"""Drops its connection in mid-thought. A fourth argument is how long it stays away, in seconds; -1 for ever."""

import sys
import time

from testkit.wire import Wire, arguments, free_cell, report

url, name, token = arguments()
wire = Wire(url, name, token)
wire.begin()
wire.hear("turn")
# no closing handshake: as when a process dies or a cable is pulled
wire.socket.socket.close()
report(type="dropped")
away = float(sys.argv[4])
if away >= 0:
    time.sleep(away)
    wire = Wire(url, name, token, wire.welcome["session"])
    while (message := wire.hear("start", "turn", "end"))["type"] != "end":
        match = message["match"]
        if message["type"] == "start":
            wire.say(type="ready", match=match)
        else:
            wire.say(type="move", match=match, ply=message["ply"], move=free_cell(message["moves"]))
    wire.socket.close()
