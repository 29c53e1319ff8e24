"""Server process for benchmarks, its metrics, and the division of CPU cores between a server and the load processes (bots)."""

from __future__ import annotations

import os
import re
import resource
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

from benchmarks.kit.scripted_match import SCRIPTED_MATCH_MAP

REPOSITORY_FOLDER = Path(__file__).parents[2]
MIN_CORES_TO_SPLIT = 4
"""Smallest number of CPU cores of a machine on which the server and the load processes run on separate cores."""


def split_cores() -> tuple[set[int], set[int]]:
    """Return the numbers of the CPU cores for the server, and of those for the load processes.

    Each get half of the cores, or all of them if there are fewer than MIN_CORES_TO_SPLIT.
    """
    own_cores = sorted(os.sched_getaffinity(0))
    if len(own_cores) < MIN_CORES_TO_SPLIT:
        return set(own_cores), set(own_cores)
    half = len(own_cores) // 2
    return set(own_cores[:half]), set(own_cores[half:])


@contextmanager
def pin_to_cores(cores: set[int]) -> Iterator[None]:
    """Pin this thread, and all processes that it starts in the block, to these cores until the end of the `with` block."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@dataclass
class RunningServer:
    """Server that runs in a process of its own."""

    url: str
    process: subprocess.Popen[bytes]

    @property
    def memory_bytes(self) -> int:
        """Resident memory of the server in bytes; 0 if the process has ended."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        match = re.search(r"VmRSS:\s+(\d+)", status)
        return int(match[1]) * 1024 if match else 0

    @property
    def cpu_seconds(self) -> float:
        """CPU time that the server has used so far, user and kernel, in seconds."""
        return read_process_cpu_seconds(self.process.pid)


def read_process_cpu_seconds(pid: int) -> float:
    """Return the CPU seconds, user and kernel, that a process has used. Raises OSError if there is no such process."""
    return time.clock_gettime(
        ~pid << 3 | 2
    )  # the number of the process's clock, as of `clock_getcpuclockid` on Linux


def raise_open_file_limit() -> None:
    """Allow this process and its children 20,000 open files and sockets, or as many as the operating system permits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 20_000)), hard))


@contextmanager
def run_server(*command: str, cores: set[int] | None = None) -> Iterator[RunningServer]:
    """Run `python -m COMMAND` until the end of the `with` block, which begins once the server listens.

    cores: numbers of the cores for the server; None for all

    A free port replaces the text PORT in the command. Raises RuntimeError if the server does not listen within 60 s.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pin_to_cores(cores) if cores else nullcontext():
        process = subprocess.Popen(
            [sys.executable, "-m", *(word.replace("PORT", str(port)) for word in command)],
            cwd=REPOSITORY_FOLDER,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{command[0]} did not listen within 60 s") from None
                time.sleep(0.05)
        yield RunningServer(f"ws://127.0.0.1:{port}", process)
    finally:
        process.kill()
        process.wait()


SCRIPTED_MATCH_OPTIONS = (
    "--map",
    SCRIPTED_MATCH_MAP,
    "--tc",
    "60+1",
    "--set=pool.pause_seconds=0",
    "--set=pool.openings=none",
)
"""Options of `arena serve` for bots that play the match of `benchmarks.kit.scripted_match`."""


@contextmanager
def run_arena_server(
    max_matches: int, *options: str, database_url: str = "", cores: set[int] | None = None
) -> Iterator[RunningServer]:
    """Run `arena serve` until the end of the `with` block. Bots may connect under any name, without a token.

    max_matches: limit on parallel matches
    options: further options of `arena serve`
    database_url: URL of the store; empty for a temporary SQLite file
    cores: numbers of the cores for the server; None for all
    """
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        store = ("--db", database_url or f"sqlite:///{folder}/arena.db")
        limit = f"--set=pool.concurrency={max_matches}"
        serve = ("arena", "serve", "--anyone", "--set=house.engines=none", *SCRIPTED_MATCH_OPTIONS)
        with run_server(*serve, *store, "--port", "PORT", limit, *options, cores=cores) as running:
            yield running


def fetch_move_time_histogram(url: str) -> dict[float, float]:
    """Fetch the server's histogram of the times from a move's arrival to the message `accepted`, which confirms the move.

    Return, for each upper bound in seconds (the last is infinity), the number of moves up to this bound.
    """
    with urllib.request.urlopen(url.replace("ws:", "http:") + "/metrics", timeout=60) as answer:  # noqa: S310  our own server
        text: str = answer.read().decode()
    buckets = re.findall(r'^arena_move_seconds_bucket\{le="([^"]+)"\} (\S+)', text, re.MULTILINE)
    return {float(bound.replace("+Inf", "inf")): float(count) for bound, count in buckets}


def interpolate_quantile(bucket_counts: dict[float, float], quantile: float) -> float:
    """Return a quantile of a histogram of times, in seconds, interpolated within its bucket.

    The last bucket has no upper bound. For a quantile in this bucket, return its lower bound.

    bucket_counts: cumulative counts, as from `fetch_move_time_histogram`
    quantile: from 0 to 1, such as 0.99
    """
    total, below, count_below = bucket_counts[float("inf")], 0.0, 0.0
    for bound, count in sorted(bucket_counts.items()):
        if count >= quantile * total and count > count_below:
            if bound == float("inf"):
                return below
            return below + (bound - below) * (quantile * total - count_below) / (count - count_below)
        below, count_below = bound, count
    return below
