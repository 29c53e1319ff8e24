"""Thinks longer than its clock."""

from __future__ import annotations

import time
from typing import Any

from tests.faulty.honest import Honest, Message


class Slow(Honest):
    def choose(self, turn: Message) -> Any:
        time.sleep(2 * turn["clocks"]["maxie_ms"] / 1000 + 0.2)
        return super().choose(turn)


if __name__ == "__main__":
    Slow().run()
