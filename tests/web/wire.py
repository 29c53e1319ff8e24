"""Somebody on the wire beside the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import msgpack
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from arena.protocol.messages import SUBPROTOCOL


class Guest:
    """Somebody who plays the house from an address, without a page."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    @classmethod
    @contextmanager
    def at(cls, url: str, name: str, source: str) -> Iterator[Self]:
        """A guest who is in."""
        options: Any = {"source_address": (source, 0)}
        with connect(url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None, **options) as socket:
            guest = cls(socket)
            guest.say(type="hello", name=name)
            yield guest

    def say(self, **message: object) -> None:
        self._socket.send(msgpack.packb(message))

    def hear(self, kind: str) -> dict[str, Any]:
        """The next message of this kind."""
        while True:
            message: dict[str, Any] = msgpack.unpackb(self._socket.recv(timeout=60, decode=False))
            if message["type"] == kind:
                return message

    def challenge(self, opponent: str) -> None:
        clock = {"base_ms": 300_000, "increment_ms": 3_000, "per_move": False}
        self.say(type="challenge", opponent=opponent, game="tictactoe", rated=False, time_control=clock)
