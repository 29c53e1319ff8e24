"""Answers a turn that was over long ago, with a new move."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class AnswersThePast(Honest):
    last = 0

    def on_turn(self, message: Message) -> None:
        if message["ply"] < self.last:
            self.say(**{**self.move(message), "move": 8 - message["ply"]})
        else:
            self.last = message["ply"]
            super().on_turn(message)

    def on_start(self, message: Message) -> None:
        self.last = 0
        super().on_start(message)


if __name__ == "__main__":
    AnswersThePast().run()
