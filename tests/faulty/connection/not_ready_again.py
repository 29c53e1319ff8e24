"""Does not say ready again for a match that it knows."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class NotReadyAgain(Honest):
    known = ""

    def on_start(self, message: Message) -> None:
        if self.known != message["match"]:
            super().on_start(message)
        self.known = message["match"]


if __name__ == "__main__":
    NotReadyAgain().run()
