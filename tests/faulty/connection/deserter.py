"""Ends when its connection is lost."""

from __future__ import annotations

import sys

from websockets.exceptions import ConnectionClosed

from tests.faulty.honest import Honest


class Deserter(Honest):
    def serve(self) -> None:
        try:
            super().serve()
        except ConnectionClosed:
            sys.exit(0)


if __name__ == "__main__":
    Deserter().run()
