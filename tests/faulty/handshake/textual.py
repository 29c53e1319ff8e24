"""Sends JSON in text frames."""

from __future__ import annotations

import json

from tests.faulty.honest import Honest


class Textual(Honest):
    def say(self, **message: object) -> None:
        self.socket.send(json.dumps(message))


if __name__ == "__main__":
    Textual().run()
