"""Tries once to connect again."""

from __future__ import annotations

import os

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests.faulty.honest import Honest


class GivesUp(Honest):
    def run(self) -> None:
        for _ in range(2):
            try:
                with connect(os.environ["ARENA_URL"], subprotocols=self.subprotocols) as self.socket:
                    self.serve()
            except WebSocketException:
                pass


if __name__ == "__main__":
    GivesUp().run()
