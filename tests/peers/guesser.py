"""Tries one token after another for a name; prints each answer's code."""

import msgpack
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from testkit.wire import SUBPROTOCOL, print_report, read_arguments

url, _, _ = read_arguments()
for number in range(15):
    with connect(url, subprotocols=[SUBPROTOCOL], compression=None, open_timeout=150) as socket:
        socket.send(msgpack.packb({"type": "hello", "name": "victim", "token": f"guess {number}"}))
        try:
            while True:
                message = msgpack.unpackb(socket.recv(timeout=500, decode=False))
                print_report(**message)
        except ConnectionClosed:
            pass
