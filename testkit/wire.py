"""Websocket client for peers: small programs that tests run in place of a bot, to follow or violate the protocol.

The client does only what a peer asks for, and prints the messages that it receives.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import msgpack
from websockets.sync.client import ClientConnection, connect

SUBPROTOCOL: Any = "arena.v1.msgpack"
PATIENCE = 500.0
"""Seconds without a message from the server after which a peer gives up, so that no peer outlives its test for long."""


def read_arguments() -> tuple[str, str, str]:
    """Return the URL, name and token from the command line."""
    url, name, token = sys.argv[1:4]
    return url, name, token


def print_report(**fields: object) -> None:
    """Print the fields as one line of JSON, which the test reads."""
    print(json.dumps(fields), flush=True)  # noqa: T201


class ProtocolPeer:
    """Connection of a peer. Creating it connects, sends the hello, and waits for the welcome."""

    def __init__(self, url: str, name: str, token: str, session: str = "") -> None:
        self.socket: ClientConnection = connect(
            url,
            subprotocols=[SUBPROTOCOL],
            compression=None,
            max_size=None,
            open_timeout=PATIENCE,
            close_timeout=1,
        )
        self.send(type="hello", name=name, token=token, session=session)
        self.welcome = self.receive_type("welcome")

    def send(self, **message: object) -> None:
        """Send a message with these fields, `type` among them."""
        self.socket.send(msgpack.packb(message))

    def receive(self) -> dict[str, Any]:
        """Print the next message and return it.

        Raises ConnectionClosed if the connection is closed, and TimeoutError after PATIENCE seconds.
        """
        frame = self.socket.recv(timeout=PATIENCE, decode=False)
        message: dict[str, Any] = msgpack.unpackb(frame)
        print_report(**message)
        return message

    def receive_type(self, *types: str) -> dict[str, Any]:
        """Return the next message of one of these types. Messages of other types are printed and skipped."""
        while (message := self.receive())["type"] not in types:
            pass
        return message

    def begin_match(self) -> dict[str, Any]:
        """Wait for the `start` message of a match, answer with `ready`, and return the `start` message."""
        start = self.receive_type("start")
        self.send(type="ready", match=start["match"])
        return start


def find_free_cell(moves: list[int]) -> int:
    """Return a legal move of tic-tac-toe: the first empty cell. `moves`: cells that were played, 0 to 8."""
    return next(cell for cell in range(9) if cell not in moves)
