"""Fails at a type that it does not know."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class BrittleTypes(Honest):
    def on_other(self, message: Message) -> None:
        if message["type"] != "accepted":
            raise LookupError(message["type"])


if __name__ == "__main__":
    BrittleTypes().run()
