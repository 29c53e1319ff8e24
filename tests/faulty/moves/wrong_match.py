"""Names another match."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class WrongMatch(Honest):
    def move(self, turn: Message) -> Message:
        return {**super().move(turn), "match": "my match"}


if __name__ == "__main__":
    WrongMatch().run()
