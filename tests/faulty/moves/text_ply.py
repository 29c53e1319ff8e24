"""Sends the ply as text."""

from __future__ import annotations

from typing import Any

from tests.faulty.honest import Honest


class TextPly(Honest):
    def say(self, **message: Any) -> None:
        if message["type"] == "move":
            message["ply"] = str(message["ply"])
        super().say(**message)


if __name__ == "__main__":
    TextPly().run()
