"""Takes the match that ended for the one that is played."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class Stuck(Honest):
    playing = ""

    def on_start(self, message: Message) -> None:
        if not self.playing:
            self.playing = message["match"]
            super().on_start(message)

    def on_accepted(self, message: Message) -> None:
        self.playing = ""


if __name__ == "__main__":
    Stuck().run()
