"""Comes back as a stranger."""

from __future__ import annotations

from tests.faulty.honest import Honest, Message


class ForgetsSession(Honest):
    def hello(self) -> Message:
        return {**super().hello(), "session": ""}


if __name__ == "__main__":
    ForgetsSession().run()
