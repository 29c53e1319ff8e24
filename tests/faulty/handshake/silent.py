"""Connects and says nothing."""

from __future__ import annotations

from tests.faulty.honest import Honest


class Silent(Honest):
    def greet(self) -> None:
        pass


if __name__ == "__main__":
    Silent().run()
