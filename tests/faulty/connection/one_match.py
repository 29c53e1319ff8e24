"""Ends after its first match."""

from __future__ import annotations

import sys

from tests.faulty.honest import Honest, Message


class OneMatch(Honest):
    def on_end(self, message: Message) -> None:
        sys.exit(7)


if __name__ == "__main__":
    OneMatch().run()
