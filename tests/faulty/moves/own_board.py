"""Keeps a board of its own, and looks at the last move only."""

from __future__ import annotations

from typing import Any

from tests.faulty.honest import Honest, Message


class OwnBoard(Honest):
    def on_start(self, message: Message) -> None:
        self.taken: list[int] = []
        super().on_start(message)

    def choose(self, turn: Message) -> Any:
        self.taken += turn["moves"][-1:]
        self.taken.append(super().choose({**turn, "moves": self.taken}))
        return self.taken[-1]


if __name__ == "__main__":
    OwnBoard().run()
