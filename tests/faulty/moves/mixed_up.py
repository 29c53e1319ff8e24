"""Takes two matches at once, and every turn for one of the last that began."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class MixedUp(Honest):
    matches = 2
    last = ""

    def on_start(self, message: Message) -> None:
        self.last = message["match"]
        super().on_start(message)

    def move(self, turn: Message) -> Message:
        return {**super().move(turn), "match": self.last}


if __name__ == "__main__":
    MixedUp().run()
