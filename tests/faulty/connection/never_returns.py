"""Answers the goodbye of a server in good order, and never comes back."""

from __future__ import annotations

import os
import time

from websockets.sync.client import connect

from tests.faulty.honest import Honest


class NeverReturns(Honest):
    def run(self) -> None:
        with connect(os.environ["ARENA_URL"], subprotocols=self.subprotocols) as self.socket:
            self.serve()
        time.sleep(600)


if __name__ == "__main__":
    NeverReturns().run()
