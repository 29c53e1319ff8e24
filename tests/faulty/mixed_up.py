"""Plays two matches on one board."""

from __future__ import annotations

from typing import Any, ClassVar

from tests.faulty.honest import Honest, Message


class MixedUp(Honest):
    matches = 2
    board: ClassVar[list[int]] = []

    def choose(self, turn: Message) -> Any:
        self.board += turn["moves"]
        cell = super().choose({**turn, "moves": self.board})
        self.board.append(cell)
        return cell

    def on_end(self, message: Message) -> None:
        self.board.clear()


if __name__ == "__main__":
    MixedUp().run()
