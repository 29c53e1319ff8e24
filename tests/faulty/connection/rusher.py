"""Connects again and again to a server that has said goodbye."""

from __future__ import annotations

import contextlib
import os

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests.faulty.honest import Honest


class Rusher(Honest):
    def run(self) -> None:
        while True:
            with contextlib.suppress(OSError, WebSocketException):
                self.socket = connect(os.environ["ARENA_URL"], subprotocols=self.subprotocols)
                self.serve()


if __name__ == "__main__":
    Rusher().run()
