"""Network namespaces that act as two machines, connected by a virtual cable: one runs a server, the other its bots.

The module needs root, `ip` and `ss`. All processes in the namespaces end with the cable.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from arena.protocol.record import Record, read_records

ROOT = Path(__file__).parents[2]
SERVER, BOTS = "10.213.7.1", "10.213.7.2"
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
    """Network namespaces that act as machines: the server's (s) and the bots' (b).

    name: prefix of the namespaces' names, before the letter
    folder: folder of the server's store and of the logs
    started: all processes in the namespaces
    """

    name: str
    folder: Path
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def record_file(self) -> Path:
        """File to which the server appends the record of each finished match."""
        return self.folder / "record.jsonl"

    @property
    def server_log(self) -> str:
        """Text that the server has logged so far."""
        return (self.folder / "s.log").read_text()

    def start_in_namespace(self, side: str, *command: str) -> None:
        """Start `python -m COMMAND` in the namespace `side` (s or b), with its output appended to the log."""
        with (self.folder / f"{side}.log").open("ab") as log:
            whole = ["ip", "netns", "exec", f"{self.name}{side}", sys.executable, "-m", *command]
            self.started.append(subprocess.Popen(whole, cwd=ROOT, stdout=log, stderr=log))

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
        self.start_in_namespace("s", *serve, "--host", SERVER, *limits, *store, *options)
        self.start_in_namespace("b", "testkit.players", f"ws://{SERVER}:{PORT}", str(bots), str(think), "bot")

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
def open_cable(folder: Path) -> Iterator[Cable]:
    """Create a cable, and remove it at the end of the `with` block. Raises CableUnavailable if this machine does not allow it.

    folder: folder of the server's store and of the logs
    """
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("ss"):
        raise CableUnavailable("needs root, ip and ss to lay a cable between network namespaces")
    cable = Cable(f"arena{os.getpid()}", folder)
    ends = [f"{cable.name}{side}" for side in "sb"]
    try:
        for end in ends:
            run_ip("netns", "add", end)
        run_ip("-n", ends[0], "link", "add", "v", "type", "veth", "peer", "name", "v", "netns", ends[1])
        for end, address in zip(ends, (SERVER, BOTS), strict=True):
            run_ip("-n", end, "address", "add", f"{address}/24", "dev", "v")
            run_ip("-n", end, "link", "set", "v", "up")
        yield cable
    finally:
        for process in cable.started:
            process.kill()
            process.communicate()
        for end in ends:
            subprocess.run(["ip", "netns", "del", end], check=False, capture_output=True)
