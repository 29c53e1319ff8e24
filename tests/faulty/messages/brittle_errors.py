"""Takes every error for the end."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class BrittleErrors(Honest):
    def on_error(self, message: Message) -> None:
        self.socket.close()


if __name__ == "__main__":
    BrittleErrors().run()
