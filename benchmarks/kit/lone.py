"""A lone move: how long its player waits for the answer, beside what the disk takes to make anything durable."""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.kit.load import Load, all_in, arena_bot
from benchmarks.kit.results import claim
from benchmarks.kit.served import arena

PAUSE_SECONDS = 0.03
"""From one move to the next, on the average."""
ROW = "x" * 200
"""A row as large as that of a move."""
MOST_MS = 0.4
"""What the answer may take beyond the disk's own time."""


def disk_milliseconds(count: int) -> list[float]:
    """How long so many commits of one row take that wait for the disk, with pauses as between moves."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        connection = sqlite3.connect(Path(folder) / "disk.db", isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT)")
            taken = []
            for _ in range(count):
                time.sleep(PAUSE_SECONDS)
                began = time.perf_counter()
                connection.execute("INSERT INTO rows (text) VALUES (?)", (ROW,))
                taken.append(1000 * (time.perf_counter() - began))
            return taken
        finally:
            connection.close()


async def answer_milliseconds(seconds: float) -> list[float]:
    """How long the only player to move waited for each answer, from sending to receiving."""
    load = Load()
    with arena(1) as running:
        async with asyncio.TaskGroup() as tasks:
            jobs = [
                tasks.create_task(arena_bot(running.url, f"bot {number}", load, PAUSE_SECONDS))
                for number in range(2)
            ]
            await all_in(load, 2)
            await asyncio.sleep(1)
            load.seconds.clear()
            await asyncio.sleep(seconds)
            taken = [1000 * each for each in load.seconds]
            for job in jobs:
                job.cancel()
    return taken


async def lone_lines(seconds: float) -> list[str]:
    """The section: the disk's time and the answer's, by turns."""
    disk, answers = [], []
    for _ in range(3):
        disk += await asyncio.to_thread(disk_milliseconds, int(seconds / PAUSE_SECONDS / 3))
        answers += await answer_milliseconds(seconds / 3)
    lines = [
        "## A lone move",
        (
            f"Two bots play one match, a move every {1000 * PAUSE_SECONDS:.0f} ms. *Disk* is a commit of one row by SQLite alone, as "
            "often, in the same folder; *answer* is from the sending of a move to the receiving of its answer, in the player. "
            "Milliseconds, by turns."
        ),
        "",
        "| | p50 | p90 | p99 |",
        "| --- | --- | --- | --- |",
    ]
    for name, taken in (("disk", disk), ("answer", answers)):
        cuts = statistics.quantiles(taken, n=100)
        lines.append(f"| {name} | {cuts[49]:.2f} | {cuts[89]:.2f} | {cuts[98]:.2f} |")
    print("\n".join(lines[-2:]), flush=True)
    alone, whole = statistics.median(disk), statistics.median(answers)
    what = "the answer to a lone move, p50"
    most = f"at most the disk's own commit and {MOST_MS:g} ms"
    return [*lines, "", claim(what, most, f"{whole:.2f} ms, where the disk takes {alone:.2f} ms")]
