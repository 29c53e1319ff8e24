"""Sends the ply as text."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class TextPly(Honest):
    def move(self, turn: Message) -> Message:
        return {**super().move(turn), "ply": str(turn["ply"])}


if __name__ == "__main__":
    TextPly().run()
