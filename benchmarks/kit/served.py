"""A server in a process of its own, for benchmarks, and what its metrics say."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from benchmarks.kit.halves import on_cores
from benchmarks.kit.script import MAP

ROOT = Path(__file__).parents[2]


@dataclass
class Running:
    """A server's process."""

    url: str
    process: subprocess.Popen[bytes]
    database: str = ""

    @property
    def memory(self) -> int:
        """Resident bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        found = re.search(r"VmRSS:\s+(\d+)", status)
        return int(found[1]) * 1024 if found else 0

    @property
    def cpu(self) -> float:
        """Seconds of CPU time that it has taken, its own and the kernel's for it."""
        return cpu_of(self.process.pid)


def cpu_of(pid: int) -> float:
    """Seconds of CPU time that a process has taken, its own and the kernel's for it."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(*command: str, cores: set[int] | None = None) -> Iterator[Running]:
    """`python -m COMMAND` with a free port for the word PORT, once it listens; it ends with the block.

    cores: those that it has; None for all
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with on_cores(cores) if cores else nullcontext():
        process = subprocess.Popen(
            [sys.executable, "-m", *(each.replace("PORT", str(port)) for each in command)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    try:
        end = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"{command[0]} did not come up") from None
                time.sleep(0.05)
        yield Running(f"ws://127.0.0.1:{port}", process)
    finally:
        process.kill()
        process.wait()


ON_SCRIPT = ("--map", MAP, "--tc", "60+1", "--set=pool.pause_seconds=0", "--set=pool.openings=none")
"""The options of a server whose bots play the script."""


@contextmanager
def arena(
    matches: int, *options: str, database: str = "", cores: set[int] | None = None
) -> Iterator[Running]:
    """`arena serve` for whoever comes, with so many matches at once, on a store of its own or on the one that is named."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        database = database or f"sqlite:///{folder}/arena.db"
        serve = (
            "arena",
            "serve",
            "--anyone",
            "--set=house.engines=none",
            *ON_SCRIPT,
            "--db",
            database,
        )
        with serving(
            *serve, "--port", "PORT", f"--set=pool.concurrency={matches}", *options, cores=cores
        ) as it:
            it.database = database
            yield it


def cpu_of_machine() -> tuple[float, float]:
    """Seconds that all cores together were busy since the machine's start, and seconds that they had."""
    first = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0]
    ticks = [int(each) for each in first.split()[1:9]]
    idle = ticks[3] + ticks[4]
    per_second = os.sysconf("SC_CLK_TCK")
    return (sum(ticks) - idle) / per_second, sum(ticks) / per_second


def metrics(url: str) -> str:
    """What a server's metrics say."""
    with urllib.request.urlopen(url.replace("ws:", "http:") + "/metrics", timeout=60) as answer:  # noqa: S310  our own server
        text: str = answer.read().decode()
    return text


def histogram(url: str) -> dict[float, float]:
    """The cumulative counts of `arena_move_seconds`, by upper bound."""
    found = re.findall(r'^arena_move_seconds_bucket\{le="([^"]+)"\} (\S+)', metrics(url), re.MULTILINE)
    return {float(bound.replace("+Inf", "inf")): float(count) for bound, count in found}


def quantile(counts: dict[float, float], share: float) -> float:
    """Within its bucket, linearly; the lower bound of the last, which has no upper one."""
    total, below, count_below = counts[float("inf")], 0.0, 0.0
    for bound, count in sorted(counts.items()):
        if count >= share * total and count > count_below:
            if bound == float("inf"):
                return below
            return below + (bound - below) * (share * total - count_below) / (count - count_below)
        below, count_below = bound, count
    return below
