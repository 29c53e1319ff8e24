"""Drops its connection in mid-thought. A fourth argument is how long it stays away, in seconds; -1 for ever."""

import sys
import time

from testkit.wire import ProtocolPeer, find_free_cell, print_report, read_arguments

url, name, token = read_arguments()
wire = ProtocolPeer(url, name, token)
wire.begin_match()
wire.receive_type("turn")
# no closing handshake: as when a process dies or a cable is pulled
wire.socket.socket.close()
print_report(type="dropped")
away = float(sys.argv[4])
if away >= 0:
    time.sleep(away)
    wire = ProtocolPeer(url, name, token, wire.welcome["session"])
    while (message := wire.receive_type("start", "turn", "end"))["type"] != "end":
        match = message["match"]
        if message["type"] == "start":
            wire.send(type="ready", match=match)
        else:
            wire.send(type="move", match=match, ply=message["ply"], move=find_free_cell(message["moves"]))
    wire.socket.close()
