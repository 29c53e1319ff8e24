"""Sends a binary value where text belongs."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class Binary(Honest):
    def hello(self) -> Message:
        return {**super().hello(), "program": b"bot"}


if __name__ == "__main__":
    Binary().run()
