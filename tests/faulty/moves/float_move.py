"""Sends a cell as a float."""

from __future__ import annotations

from typing import Any

from tests.faulty.honest import Honest, Message


class FloatMove(Honest):
    def choose(self, turn: Message) -> Any:
        return float(super().choose(turn))


if __name__ == "__main__":
    FloatMove().run()
