"""Thinks again about a turn that comes again."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class ChangesMind(Honest):
    tried = 0

    def on_turn(self, message: Message) -> None:
        self.tried += 1
        free = [cell for cell in range(9) if cell not in message["moves"]]
        self.say(**{**self.move(message), "move": free[self.tried % len(free)]})


if __name__ == "__main__":
    ChangesMind().run()
