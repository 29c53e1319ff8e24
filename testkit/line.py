"""Faulty line to a server on this machine: `testkit.forwarder` as a separate process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOOPBACK = "127.0.0.1"


class ForwarderProcess:
    """Running forwarder. A connection to its `port` leads to the target, over a line that can be disturbed."""

    def __init__(self, target: int | Path) -> None:
        """Start a forwarder to a local port or a Unix socket, and wait until it listens. Raises RuntimeError if it ends."""
        host, to_port = (LOOPBACK, target) if isinstance(target, int) else (str(target), 0)
        command = [sys.executable, "-m", "testkit.forwarder", LOOPBACK, "0", host, str(to_port)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        response = self._read_response()
        if not response:
            self.close()
            raise RuntimeError("the forwarder ended before it listened")
        self.port = int(response)

    def send_order(self, *arguments: str) -> int:
        """Send an order that `testkit.forwarder` describes, and return the number of affected connections."""
        if self._process.stdin is None:
            raise RuntimeError(
                "the forwarder was started without a pipe for its orders: start it with stdin=PIPE"
            )
        self._process.stdin.write(" ".join(arguments) + "\n")
        self._process.stdin.flush()
        return int(self._read_response().split()[0])

    def close(self) -> None:
        """Kill the forwarder, which closes its connections."""
        self._process.kill()
        self._process.communicate()

    def _read_response(self) -> str:
        if self._process.stdout is None:
            raise RuntimeError("the forwarder was started without a pipe for its responses")
        return self._process.stdout.readline().strip()
