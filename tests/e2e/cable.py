"""Network namespaces that act as two machines, connected by a virtual cable: one runs a server, the other its bots.

Optionally, a third namespace between them runs a faulty line (`testkit.forwarder`). The module needs root, `ip` and
`ss`. All processes in the namespaces end with the cable.
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

from arena.protocol.record import Record, read_records

ROOT = Path(__file__).parents[2]
SERVER, BOTS = "10.213.7.1", "10.213.7.2"
NEAR, FAR = "10.213.8.1", "10.213.8.2"
"""Addresses between the line and the bots, if there is a line: the line's own, to which bots connect, and the bots'."""
PORT = "8765"


class CableUnavailable(Exception):
    """Raised when no cable can be created on this machine; the message is the reason in one line."""


def run_ip(*arguments: str) -> None:
    """Run `ip` with these arguments. Raises CableUnavailable if it fails."""
    result = subprocess.run(["ip", *arguments], check=False, capture_output=True, text=True)
    if result.returncode:
        raise CableUnavailable(f"no network namespaces here: {result.stderr.strip()}")


@dataclass
class Cable:
    """Network namespaces that act as machines: the server's (s), the bots' (b), and optionally a faulty line's (m).

    name: prefix of the namespaces' names, before the letter
    folder: folder of the server's store and of the logs
    has_line: True if there is a line between server and bots
    started: all processes in the namespaces
    """

    name: str
    folder: Path
    has_line: bool = False
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)
    line: subprocess.Popen[bytes] | None = None
    server: subprocess.Popen[bytes] | None = None

    @property
    def namespace_names(self) -> str:
        return "smb" if self.has_line else "sb"

    @property
    def record_file(self) -> Path:
        """File to which the server appends the record of each finished match."""
        return self.folder / "record.jsonl"

    @property
    def server_log(self) -> str:
        """Text that the server has logged so far."""
        return (self.folder / "s.log").read_text()

    def start_in_namespace(self, side: str, *command: str, piped: bool = False) -> subprocess.Popen[bytes]:
        """Start `python -m COMMAND` in a namespace.

        side: letter of the namespace: s, b or m
        piped: True to connect standard input and output to pipes, False to append the output to the log
        """
        with (self.folder / f"{side}.log").open("ab") as log:
            whole = ["ip", "netns", "exec", f"{self.name}{side}", sys.executable, "-m", *command]
            pipe = subprocess.PIPE if piped else None
            self.started.append(subprocess.Popen(whole, cwd=ROOT, stdin=pipe, stdout=pipe or log, stderr=log))
        return self.started[-1]

    def start_server_and_bots(self, tc: str, bots: int, think: float, *options: str) -> None:
        """Start a server at one end of the cable, and bots that play tic-tac-toe on it at the other end.

        tc: time control
        bots: number of bots
        think: longest thinking time of a bot before each move, in seconds
        options: further options of `arena serve`
        """
        limits = (
            "--set=limits.connections_per_address=5000",
            "--set=limits.cut_offs=100000",
            f"--set=pool.concurrency={bots // 2}",
        )
        store = (
            "--db",
            f"sqlite:///{self.folder / 'arena.db'}",
            f"--set=store.record={self.record_file}",
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
        self.server = self.start_in_namespace("s", *serve, "--host", SERVER, *limits, *store, *options)
        if self.has_line:
            self.line = self.start_in_namespace(
                "m", "testkit.forwarder", NEAR, PORT, SERVER, PORT, piped=True
            )
            self._read_response()
        url = f"ws://{NEAR if self.has_line else SERVER}:{PORT}"
        self.start_in_namespace("b", "testkit.players", url, str(bots), str(think), "bot")

    def send_order(self, *arguments: str) -> int:
        """Send an order that `testkit.forwarder` describes, and return the number of affected connections.

        Raises ValueError if the cable has no line.
        """
        if self.line is None or self.line.stdin is None:
            raise ValueError("the cable was made without a forwarder between its ends")
        self.line.stdin.write(" ".join(arguments).encode() + b"\n")
        self.line.stdin.flush()
        return int(self._read_response().split()[0])

    def _read_response(self) -> str:
        if self.line is None or self.line.stdout is None:
            raise ValueError("the cable was made without a forwarder between its ends")
        line = self.line.stdout.readline().decode()
        if not line:
            raise RuntimeError(
                f"the forwarder has ended; its log: {(self.folder / 'm.log').read_text()[-2000:]}"
            )
        return line

    def cut_line(self) -> None:
        """Drop every packet from and to the server from now on. Neither end of a connection is notified."""
        run_ip("-n", f"{self.name}s", "link", "set", "v", "down")

    def restore_line(self) -> None:
        """Let packets pass again, after `cut_line`."""
        run_ip("-n", f"{self.name}s", "link", "set", "v", "up")

    def reset_connections(self) -> None:
        """Let the kernel reset every TCP connection at both ends."""
        for side in "sb":
            subprocess.run(
                ["ip", "netns", "exec", f"{self.name}{side}", "ss", "-K", "state", "established"],
                check=True,
                capture_output=True,
            )

    def list_records(self) -> list[Record]:
        """Return the records of the finished matches; none if the server has not yet written any."""
        return list(read_records(self.record_file)) if self.record_file.exists() else []

    def wait_for_matches(self, count: int, seconds: float = 300) -> list[Record]:
        """Wait until `count` matches are finished, and return their records. Raises RuntimeError after `seconds`."""
        end = time.monotonic() + seconds
        while len(records := self.list_records()) < count:
            if time.monotonic() > end:
                raise RuntimeError(f"{len(records)} of {count} matches are over: {self.server_log[-2000:]}")
            time.sleep(0.05)
        return records

    def wait_for_log(self, text: str, count: int, seconds: float = 150) -> bool:
        """Wait until the server's log contains `text` at least `count` times. Return False after `seconds` in vain."""
        end = time.monotonic() + seconds
        while self.server_log.count(text) < count:
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
        return True


@contextmanager
def open_cable(folder: Path, *, with_line: bool = False) -> Iterator[Cable]:
    """Create a cable, and remove it at the end of the block. Raises CableUnavailable if this machine does not allow it.

    folder: folder of the server's store and of the logs
    with_line: True to put a faulty line between server and bots
    """
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("ss"):
        raise CableUnavailable("needs root, ip and ss to lay a cable between network namespaces")
    cable = Cable(f"arena{os.getpid()}", folder, with_line)
    ends = [f"{cable.name}{side}" for side in cable.namespace_names]
    try:
        for end in ends:
            run_ip("netns", "add", end)
        if with_line:
            _link_namespaces((ends[0], "v", SERVER), (ends[1], "v", BOTS))
            _link_namespaces((ends[1], "w", NEAR), (ends[2], "v", FAR))
        else:
            _link_namespaces((ends[0], "v", SERVER), (ends[1], "v", BOTS))
        yield cable
    finally:
        for process in cable.started:
            process.kill()
            process.communicate()
        for end in ends:
            subprocess.run(["ip", "netns", "del", end], check=False, capture_output=True)


def _link_namespaces(*ends: Sequence[str]) -> None:
    (one, here, _), (other, there, _) = ends
    run_ip("-n", one, "link", "add", here, "type", "veth", "peer", "name", there, "netns", other)
    for space, device, address in ends:
        run_ip("-n", space, "address", "add", f"{address}/24", "dev", device)
        run_ip("-n", space, "link", "set", device, "up")
