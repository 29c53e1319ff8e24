"""A websocket that speaks the protocol as far as a peer wants it to, and prints what it is told."""

from __future__ import annotations

import json
import sys
from typing import Any

import msgpack
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

SUBPROTOCOL: Any = "arena.v1.msgpack"
PATIENCE = 20.0
"""Seconds without a word from the server after which a peer gives up: no peer outlives its test."""


def arguments() -> tuple[str, str, str]:
    """URL, name and token from the command line."""
    url, name, token = sys.argv[1:4]
    return url, name, token


def report(**what: object) -> None:
    """Print one line for the test to read."""
    print(json.dumps(what), flush=True)  # noqa: T201


class Wire:
    """One connection, from its hello on."""

    def __init__(self, url: str, name: str, token: str, session: str = "") -> None:
        self.socket: ClientConnection = connect(
            url, subprotocols=[SUBPROTOCOL], compression=None, max_size=None, close_timeout=1
        )
        self.say(type="hello", name=name, token=token, session=session)
        self.welcome = self.hear("welcome")

    def say(self, **message: object) -> None:
        """Send a message."""
        self.socket.send(msgpack.packb(message))

    def next(self) -> dict[str, Any]:
        """The next message, which is printed too. Raises ConnectionClosed or TimeoutError."""
        frame = self.socket.recv(timeout=PATIENCE, decode=False)
        message: dict[str, Any] = msgpack.unpackb(frame)
        report(**message)
        return message

    def hear(self, *types: str) -> dict[str, Any]:
        """The next message of one of these types; others before it are passed over."""
        while (message := self.next())["type"] not in types:
            pass
        return message

    def begin(self) -> dict[str, Any]:
        """Wait for the start of a match and be ready for it; the start."""
        start = self.hear("start")
        self.say(type="ready", match=start["match"])
        return start

    def listen(self) -> None:
        """Print whatever comes until the match or the connection ends, and then how it ended."""
        try:
            self.hear("end")
            self.socket.close()
        except ConnectionClosed:
            pass
        report(type="closed", code=self.socket.close_code, reason=self.socket.close_reason)


def free_cell(moves: list[int]) -> int:
    """A legal move of tic-tac-toe: the first cell that is empty."""
    return next(cell for cell in range(9) if cell not in moves)
