"""Takes the middle, whoever is there."""

from __future__ import annotations

from typing import Any

from tests.faulty.honest import Honest, Message


class Illegal(Honest):
    def choose(self, turn: Message) -> Any:
        return 4


if __name__ == "__main__":
    Illegal().run()
