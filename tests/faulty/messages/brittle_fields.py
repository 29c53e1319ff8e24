"""Fails at a field that it does not know."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class BrittleFields(Honest):
    def on_turn(self, message: Message) -> None:
        known = {"type", "match", "ply", "moves", "clocks", "increment_ms"}
        if set(message) != known:
            raise LookupError(str(set(message) - known))
        super().on_turn(message)


if __name__ == "__main__":
    BrittleFields().run()
