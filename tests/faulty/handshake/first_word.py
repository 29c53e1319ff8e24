"""Begins with another message than hello."""

from __future__ import annotations

from tests.faulty.honest import Honest


class FirstWord(Honest):
    def greet(self) -> None:
        self.say(type="ready", match="x")


if __name__ == "__main__":
    FirstWord().run()
