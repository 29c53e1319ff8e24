"""Says that it only watches."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class ProgressObserver(Honest):
    def hello(self) -> Message:
        return {**super().hello(), "role": "spectator"}


if __name__ == "__main__":
    ProgressObserver().run()
