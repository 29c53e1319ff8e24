"""Counts plies from 1."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class WrongPly(Honest):
    def move(self, turn: Message) -> Message:
        return {**super().move(turn), "ply": turn["ply"] + 1}


if __name__ == "__main__":
    WrongPly().run()
