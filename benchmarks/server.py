"""The server against a bare relay, in one run; writes benchmarks/SERVER.md.

    python -m benchmarks.server [--seconds 5] [--rounds 3] [--most 2000]

Each figure is a median over rounds; the ratio is of neighbours in time. The load runs in this process, on
the same machine. Latencies are the server's own, from a move's arrival to its announcement.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvloop

from benchmarks.load import Load, arena_bot, measured, relay_bot
from benchmarks.script import MAP, frame_sizes, script

ROOT = Path(__file__).parents[1]
REPORT = ROOT / "benchmarks" / "SERVER.md"
KINDS = ("arena", "same frames", "one frame")
QUANTILES = (0.5, 0.99, 0.999)


@dataclass
class Running:
    """A server's process."""

    url: str
    process: subprocess.Popen[bytes]

    @property
    def memory(self) -> int:
        """Resident bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        found = re.search(r"VmRSS:\s+(\d+)", status)
        return int(found[1]) * 1024 if found else 0


@contextmanager
def _running(*command: str) -> Iterator[Running]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
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


@contextmanager
def arena(matches: int) -> Iterator[Running]:
    """A server for so many matches at once, with a store that is thrown away, open to all."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        limits = ("--max-connections", "10000", "--max-per-address", "10000", "--hello", "60")
        serve = (
            "arena",
            "serve",
            "--anyone",
            "--house",
            "none",
            "--map",
            MAP,
            "--tc",
            "60+1",
            "--port",
            "PORT",
        )
        with _running(
            *serve, "--concurrency", str(matches), "--db", f"sqlite:///{folder}/arena.db", *limits
        ) as it:
            yield it


async def _flat_out(bots: int, seconds: float) -> list[float]:
    """Moves a second that so many bots play as fast as they can: arena, and both relays."""
    rates = []
    sizes = [str(size) for size in frame_sizes()]
    for kind in KINDS:
        load = Load()
        relay = ("benchmarks.relay", "PORT", *(sizes if kind == "same frames" else ()))
        with arena(bots // 2) if kind == "arena" else _running(*relay) as running:
            async with asyncio.TaskGroup() as tasks:
                jobs = [
                    tasks.create_task(
                        arena_bot(running.url, f"bot {number}", load)
                        if kind == "arena"
                        else relay_bot(running.url, number % 2 == 1, load)
                    )
                    for number in range(bots)
                ]
                await _all_in(load, bots)
                rates.append(await measured(load, 1.0, seconds))
                for job in jobs:
                    job.cancel()
        _complain(load)
    return rates


@dataclass
class Paced:
    """A run at a given rate."""

    bots: int
    asked: float
    rate: float
    milliseconds: list[float]
    forfeits: int
    idle_kib: float
    playing_kib: float


async def _paced(bots: int, rate: float, seconds: float) -> Paced:
    """So many bots that play `rate` moves a second in all; memory of a connection, idle and playing."""
    load = Load()
    with arena(bots // 2) as running:
        async with asyncio.TaskGroup() as tasks:
            empty = running.memory
            jobs = [
                tasks.create_task(arena_bot(running.url, f"idle {number}", load, pool=False))
                for number in range(bots)
            ]
            await _all_in(load, bots)
            await asyncio.sleep(1)
            idle = running.memory
            # one bot of two is to move
            pause = bots / 2 / rate
            jobs += [
                tasks.create_task(arena_bot(running.url, f"bot {number}", load, pause))
                for number in range(bots)
            ]
            await _all_in(load, 2 * bots)
            await asyncio.sleep(min(5.0, 2 * pause))
            before = await asyncio.to_thread(_histogram, running.url)
            reached = await measured(load, 0, seconds)
            after = await asyncio.to_thread(_histogram, running.url)
            playing = running.memory
            for job in jobs:
                job.cancel()
    _complain(load)
    counts = {bound: after[bound] - before.get(bound, 0) for bound in after}
    latencies = [1000 * _quantile(counts, each) for each in QUANTILES]
    return Paced(
        bots,
        rate,
        reached,
        latencies,
        len(load.forfeits),
        (idle - empty) / bots / 1024,
        (playing - idle) / bots / 1024,
    )


async def _all_in(load: Load, count: int) -> None:
    end = time.monotonic() + 120
    while load.connected < count and time.monotonic() < end:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    if load.connected < count:
        raise RuntimeError(f"{load.connected} of {count} bots came in: {load.errors[:3]}")


def _complain(load: Load) -> None:
    if load.errors:
        print(f"  {len(load.errors)} errors, the first: {load.errors[0]}")


def _histogram(url: str) -> dict[float, float]:
    """The cumulative counts of `arena_move_seconds`, by upper bound."""
    with urllib.request.urlopen(url.replace("ws:", "http:") + "/metrics", timeout=60) as answer:  # noqa: S310  our own server
        text = answer.read().decode()
    found = re.findall(r'^arena_move_seconds_bucket\{le="([^"]+)"\} (\S+)', text, re.MULTILINE)
    return {float(bound.replace("+Inf", "inf")): float(count) for bound, count in found}


def _quantile(counts: dict[float, float], share: float) -> float:
    """Within its bucket, linearly; the lower bound of the last, which has no upper one."""
    total, below, count_below = counts[float("inf")], 0.0, 0.0
    for bound, count in sorted(counts.items()):
        if count >= share * total and count > count_below:
            if bound == float("inf"):
                return below
            return below + (bound - below) * (share * total - count_below) / (count - count_below)
        below, count_below = bound, count
    return below


async def _run(seconds: float, rounds: int, most: int) -> str:
    lines = [
        "# The server, measured",
        "",
        (
            f"`make bench-server`, on {os.cpu_count()} cores with the load on the same machine "
            f"(load average before: {os.getloadavg()[0]:.1f}). Journal on, SQLite. Bots play one fixed match of "
            f"{len(script())} plies on `{MAP}` again and again."
        ),
        "",
        f"## Flat out, against a bare relay (median of {rounds} rounds)",
        (
            "The relay knows no game. *Same frames*: for each move it writes what the server writes, an answer "
            "to the mover and a turn to the other. *One frame*: it only hands the move on."
        ),
        "",
        "| bots | moves/s, arena | relay, same frames | ratio | relay, one frame | ratio |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for bots in (10, 100, 1000):
        pairs = [await _flat_out(bots, seconds) for _ in range(rounds)]
        arena, same, one = (statistics.median(each) for each in zip(*pairs, strict=True))
        ratios = [statistics.median(each[0] / each[n] for each in pairs) for n in (1, 2)]
        lines.append(
            f"| {bots} | {arena:,.0f} | {same:,.0f} | {ratios[0]:.2f} | {one:,.0f} | {ratios[1]:.2f} |"
        )
        print(lines[-1], flush=True)
    lines += [
        "",
        "## At a given rate: arrival to announcement, and memory",
        "As many idle connections as playing ones are open beside them.",
        "| playing | moves/s asked | moves/s | p50 ms | p99 ms | p99.9 ms | false forfeits | KiB an idle one | KiB a playing one more |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for bots in (10, 100, 1000):
        if bots > most // 2:
            continue
        paced = await _paced(bots, float(bots), 2 * seconds)
        p50, p99, p999 = paced.milliseconds
        lines.append(
            f"| {bots} | {paced.asked:,.0f} | {paced.rate:,.0f} | {p50:.1f} | {p99:.1f} | {p999:.1f} "
            f"| {paced.forfeits} | {paced.idle_kib:.1f} | {paced.playing_kib:.1f} |"
        )
        print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=2000, help="connections")
    given = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 20_000)), hard))
    report = uvloop.run(_run(given.seconds, given.rounds, given.most))
    REPORT.write_text(report, encoding="utf-8")


if __name__ == "__main__":
    main()
