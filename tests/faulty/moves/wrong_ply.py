"""Counts plies from 1."""

from __future__ import annotations

from typing import Any

from tests.faulty.honest import Honest


class WrongPly(Honest):
    def say(self, **message: Any) -> None:
        if message["type"] == "move":
            message["ply"] = message["ply"] + 1
        super().say(**message)


if __name__ == "__main__":
    WrongPly().run()
