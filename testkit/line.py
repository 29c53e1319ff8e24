"""A line to a port of this machine that can be made a bad one: `testkit.forwarder` as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOOPBACK = "127.0.0.1"


class Line:
    """A running forwarder; `port` leads to where it was told."""

    def __init__(self, to: int | Path) -> None:
        """Start it, to a port or to a socket in the file system, and wait until it listens."""
        host, to_port = (LOOPBACK, to) if isinstance(to, int) else (str(to), 0)
        command = [sys.executable, "-m", "testkit.forwarder", LOOPBACK, "0", host, str(to_port)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        said = self._said()
        if not said:
            self.close()
            raise RuntimeError("the line does not listen")
        self.port = int(said)

    def order(self, *words: str) -> int:
        """Give it an order; for how many connections that was."""
        if self._process.stdin is None:
            raise RuntimeError("it takes no orders")
        self._process.stdin.write(" ".join(words) + "\n")
        self._process.stdin.flush()
        return int(self._said().split()[0])

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()

    def _said(self) -> str:
        if self._process.stdout is None:
            raise RuntimeError("it tells nothing")
        return self._process.stdout.readline().strip()
