"""Offers no subprotocol."""

from __future__ import annotations

from tests.faulty.honest import Honest


class NoSubprotocol(Honest):
    subprotocols = None


if __name__ == "__main__":
    NoSubprotocol().run()
