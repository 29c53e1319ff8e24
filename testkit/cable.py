"""Hosts in network namespaces, connected by a cable: a server, bots, and optionally a faulty line between them.

Needs root, `ip` and `ss`. All processes in the namespaces end with the cable.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from arena.protocol.record import Record, read

ROOT = Path(__file__).parents[1]
SERVER, BOTS = "10.213.7.1", "10.213.7.2"
NEAR, FAR = "10.213.8.1", "10.213.8.2"
"""Addresses if there is a line between the hosts: the line's end for the bots, and the bots."""
PORT = "8765"


class NoCable(Exception):
    """Raised when no cable can be created here; the message is the reason in one line."""


def ip(*arguments: str) -> None:
    """Run `ip`. Raises NoCable."""
    result = subprocess.run(["ip", *arguments], check=False, capture_output=True, text=True)
    if result.returncode:
        raise NoCable(f"no network namespaces here: {result.stderr.strip()}")


@dataclass
class Cable:
    """Namespaces for the server (s), for the bots (b), and, if there is a line between them, for the line (m)."""

    name: str
    folder: Path
    between: bool = False
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)
    line: subprocess.Popen[bytes] | None = None
    server: subprocess.Popen[bytes] | None = None

    @property
    def sides(self) -> str:
        return "smb" if self.between else "sb"

    @property
    def record(self) -> Path:
        """Record file of the server."""
        return self.folder / "record.jsonl"

    @property
    def log(self) -> str:
        """Server's log."""
        return (self.folder / "s.log").read_text()

    def run(self, side: str, *command: str, ordered: bool = False) -> subprocess.Popen[bytes]:
        """Start `python -m COMMAND` in a namespace. With `ordered`, its standard input and output are pipes."""
        with (self.folder / f"{side}.log").open("ab") as log:
            whole = ["ip", "netns", "exec", f"{self.name}{side}", sys.executable, "-m", *command]
            pipe = subprocess.PIPE if ordered else None
            self.started.append(subprocess.Popen(whole, cwd=ROOT, stdin=pipe, stdout=pipe or log, stderr=log))
        return self.started[-1]

    def play(self, tc: str, bots: int, think: float, *options: str) -> None:
        """Start a server at one end, and bots that play tic-tac-toe on it at the other."""
        limits = (
            "--set=limits.connections_per_address=5000",
            "--set=limits.cut_offs=100000",
            f"--set=pool.concurrency={bots // 2}",
        )
        store = (
            "--db",
            f"sqlite:///{self.folder / 'arena.db'}",
            f"--set=store.record={self.record}",
            "--tc",
            tc,
        )
        serve = (
            "arena",
            "serve",
            "--anyone",
            "--set=house.engines=none",
            "--game",
            "tictactoe",
            "--set=log.verbose=true",
            "--set=pool.pause_seconds=0",
            "--set=pool.openings=none",
        )
        self.server = self.run("s", *serve, "--host", SERVER, *limits, *store, *options)
        if self.between:
            self.line = self.run("m", "testkit.forwarder", NEAR, PORT, SERVER, PORT, ordered=True)
            self._said()
        url = f"ws://{NEAR if self.between else SERVER}:{PORT}"
        self.run("b", "testkit.players", url, str(bots), str(think), "bot")

    def order(self, *words: str) -> int:
        """Send the line an order. Return the number of affected connections."""
        if self.line is None or self.line.stdin is None:
            raise ValueError("this cable has no line between")
        self.line.stdin.write(" ".join(words).encode() + b"\n")
        self.line.stdin.flush()
        return int(self._said().split()[0])

    def _said(self) -> str:
        if self.line is None or self.line.stdout is None:
            raise ValueError("this cable has no line between")
        said = self.line.stdout.readline().decode()
        if not said:
            raise RuntimeError(f"the line has ended: {(self.folder / 'm.log').read_text()[-2000:]}")
        return said

    def cut(self) -> None:
        """Drop every packet from now on, without notice to either end."""
        ip("-n", f"{self.name}s", "link", "set", "v", "down")

    def mend(self) -> None:
        """Let packets pass again."""
        ip("-n", f"{self.name}s", "link", "set", "v", "up")

    def reset(self) -> None:
        """Reset every connection at both ends, by the kernels."""
        for side in "sb":
            subprocess.run(
                ["ip", "netns", "exec", f"{self.name}{side}", "ss", "-K", "state", "established"],
                check=True,
                capture_output=True,
            )

    def records(self) -> list[Record]:
        """Return the finished matches."""
        return list(read(self.record)) if self.record.exists() else []

    def wait(self, count: int, seconds: float = 300) -> list[Record]:
        """Wait until `count` matches are finished, and return them. Raises RuntimeError."""
        end = time.monotonic() + seconds
        while len(played := self.records()) < count:
            if time.monotonic() > end:
                raise RuntimeError(f"{len(played)} of {count} matches are over: {self.log[-2000:]}")
            time.sleep(0.05)
        return played

    def wait_log(self, text: str, count: int, seconds: float = 150) -> bool:
        """Return True if the server's log contains the text `count` times within `seconds`."""
        end = time.monotonic() + seconds
        while self.log.count(text) < count:
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
        return True


@contextmanager
def laid(folder: Path, *, between: bool = False) -> Iterator[Cable]:
    """Create a cable for the duration of the block. Raises NoCable."""
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("ss"):
        raise NoCable("needs root, ip and ss to lay a cable between network namespaces")
    cable = Cable(f"arena{os.getpid()}", folder, between)
    ends = [f"{cable.name}{side}" for side in cable.sides]
    try:
        for end in ends:
            ip("netns", "add", end)
        if between:
            _lay((ends[0], "v", SERVER), (ends[1], "v", BOTS))
            _lay((ends[1], "w", NEAR), (ends[2], "v", FAR))
        else:
            _lay((ends[0], "v", SERVER), (ends[1], "v", BOTS))
        yield cable
    finally:
        for process in cable.started:
            process.kill()
            process.communicate()
        for end in ends:
            subprocess.run(["ip", "netns", "del", end], check=False, capture_output=True)


def _lay(*ends: Sequence[str]) -> None:
    (one, here, _), (other, there, _) = ends
    ip("-n", one, "link", "add", here, "type", "veth", "peer", "name", there, "netns", other)
    for space, device, address in ends:
        ip("-n", space, "address", "add", f"{address}/24", "dev", device)
        ip("-n", space, "link", "set", device, "up")
