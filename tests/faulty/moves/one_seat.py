"""Plays one seat only."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class OneSeat(Honest):
    def on_turn(self, message: Message) -> None:
        if message["ply"] % 2:
            self.say(type="resign", match=message["match"])
        else:
            super().on_turn(message)


if __name__ == "__main__":
    OneSeat().run()
