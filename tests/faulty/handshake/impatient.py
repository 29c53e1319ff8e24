"""Does not wait for the welcome."""

from __future__ import annotations

from tests.faulty.honest import Honest


class Impatient(Honest):
    def greet(self) -> None:
        super().greet()
        self.say(type="ready", match="x")


if __name__ == "__main__":
    Impatient().run()
