"""Has a name with a blank at its end."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class Nameless(Honest):
    def hello(self) -> Message:
        return {**super().hello(), "name": "bot "}


if __name__ == "__main__":
    Nameless().run()
