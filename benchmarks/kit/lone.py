"""Latency of a move on an otherwise idle server, compared with the disk's latency for a durable write."""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.kit.flat import serve_relay
from benchmarks.kit.load import Load, run_arena_bot, run_relay_bot, wait_until_all_connected
from benchmarks.kit.results import format_claim
from benchmarks.kit.served import run_arena_server

PAUSE_SECONDS = 0.03
"""Average time from one move to the next, in seconds."""
ROW = "x" * 200
"""Database row as large as that of a move."""
MAX_MS = 0.5
"""Maximum latency of the answer beyond the disk's latency, in ms."""
MEASUREMENTS = 3
"""Number of measurements of each latency."""


@dataclass
class LoneMoveLatencies:
    """Latencies in ms."""

    disk: list[float] = field(default_factory=list)
    """Latencies of SQLite commits of one row."""
    relay: list[float] = field(default_factory=list)
    """Latencies of a relay, which stores nothing."""
    answer: list[float] = field(default_factory=list)
    """Latencies of the server."""


def measure_disk(count: int) -> list[float]:
    """Return the latencies of `count` durable commits of one row, with pauses as between moves."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        connection = sqlite3.connect(Path(folder) / "disk.db", isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT)")
            durations = []
            for _ in range(count):
                time.sleep(PAUSE_SECONDS)
                began = time.perf_counter()
                connection.execute("INSERT INTO rows (text) VALUES (?)", (ROW,))
                durations.append(1000 * (time.perf_counter() - began))
            return durations
        finally:
            connection.close()


async def measure_answers(
    play: Callable[[int, Load], Coroutine[Any, Any, None]], seconds: float
) -> list[float]:
    """Return the latency of each move's answer for two bots. `play` plays the bot with the given number."""
    load = Load()
    async with asyncio.TaskGroup() as tasks:
        jobs = [tasks.create_task(play(number, load)) for number in range(2)]
        await wait_until_all_connected(load, 2)
        await asyncio.sleep(1)
        load.seconds.clear()
        await asyncio.sleep(seconds)
        durations = [1000 * each for each in load.seconds]
        for job in jobs:
            job.cancel()
    return durations


async def _measure(lone: LoneMoveLatencies, seconds: float) -> None:
    """Measure each latency once, one after another."""
    lone.disk += await asyncio.to_thread(measure_disk, int(seconds / PAUSE_SECONDS))
    with serve_relay(2) as running:
        url = running.url
        lone.relay += await measure_answers(lambda _, load: run_relay_bot(url, load, PAUSE_SECONDS), seconds)
    with run_arena_server(1) as running:
        url = running.url
        lone.answer += await measure_answers(
            lambda number, load: run_arena_bot(url, f"bot {number}", load, PAUSE_SECONDS), seconds
        )


async def make_lone_move_section(seconds: float) -> list[str]:
    """Return the section: the latencies of the disk, a relay and the server, measured alternately."""
    lone = LoneMoveLatencies()
    for _ in range(MEASUREMENTS):
        await _measure(lone, seconds / MEASUREMENTS)
    lines = render_section(lone)
    print("\n".join(lines), flush=True)
    return lines


def render_section(lone: LoneMoveLatencies) -> list[str]:
    """Return the section for these measurements."""
    alone, bare, whole = (statistics.median(each) for each in (lone.disk, lone.relay, lone.answer))
    text = f"{whole:.2f} ms; the disk takes {alone:.2f} ms, and a relay that stores nothing answers in {bare:.2f} ms"
    return [
        "## A lone move",
        (
            "This section shows how long a bot waits for the answer to a move if the server has nothing else to do. Two bots play one "
            f"match with a move every {1000 * PAUSE_SECONDS:.0f} ms. The server and the bots sleep between moves. All times are in ms. "
            "The three kinds of time are measured in turn:\n\n"
            "- *Disk* is the time of a commit of one row by SQLite alone, at the same rate and in the same folder.\n"
            "- *Relay* is the time from sending a move to receiving the answer of the relay above, which stores nothing.\n"
            "- *Answer* is the same time with the server."
        ),
        "",
        "| | p50 | p90 | p99 |",
        "| --- | --- | --- | --- |",
        _make_row("disk", lone.disk),
        _make_row("relay", lone.relay),
        _make_row("answer", lone.answer),
        "",
        format_claim(
            "p50 of the answer to a lone move",
            f"at most {MAX_MS:g} ms longer than a commit of the disk",
            text,
        ),
    ]


def _make_row(name: str, durations: Sequence[float]) -> str:
    cuts = statistics.quantiles(durations, n=100)
    return f"| {name} | {cuts[49]:.2f} | {cuts[89]:.2f} | {cuts[98]:.2f} |"
