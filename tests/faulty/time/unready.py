"""Is never ready."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class Unready(Honest):
    def on_start(self, message: Message) -> None:
        pass


if __name__ == "__main__":
    Unready().run()
