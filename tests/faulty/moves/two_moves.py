"""Sends a second move after the first."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class TwoMoves(Honest):
    def on_turn(self, message: Message) -> None:
        super().on_turn(message)
        first = self.answers[message["match"]]["move"]
        self.answers.clear()
        super().on_turn({**message, "moves": [*message["moves"], first]})


if __name__ == "__main__":
    TwoMoves().run()
