"""A lone move: how long its player waits for the answer, beside what the disk takes to make anything durable."""

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
from benchmarks.kit.load import Load, all_in, arena_bot, relay_bot
from benchmarks.kit.results import claim
from benchmarks.kit.served import arena

PAUSE_SECONDS = 0.03
"""From one move to the next, on the average."""
ROW = "x" * 200
"""A row as large as that of a move."""
MOST_MS = 0.4
"""What the answer may take beyond the disk's own time."""
TURNS = 3
"""How often each of what is compared is measured."""


@dataclass
class Lone:
    """What was measured, in milliseconds."""

    disk: list[float] = field(default_factory=list)
    """Commits of one row by SQLite alone."""
    relay: list[float] = field(default_factory=list)
    """Answers of a relay, which keeps nothing."""
    answer: list[float] = field(default_factory=list)
    """Answers of the server."""


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


async def answer_milliseconds(
    play: Callable[[int, Load], Coroutine[Any, Any, None]], seconds: float
) -> list[float]:
    """Return the time from sending to answer of each move of two bots; `play` plays one of them, by its number."""
    load = Load()
    async with asyncio.TaskGroup() as tasks:
        jobs = [tasks.create_task(play(number, load)) for number in range(2)]
        await all_in(load, 2)
        await asyncio.sleep(1)
        load.seconds.clear()
        await asyncio.sleep(seconds)
        taken = [1000 * each for each in load.seconds]
        for job in jobs:
            job.cancel()
    return taken


async def _measure(lone: Lone, seconds: float) -> None:
    """Measure each once, one after the other."""
    lone.disk += await asyncio.to_thread(disk_milliseconds, int(seconds / PAUSE_SECONDS))
    with serve_relay(2) as running:
        url = running.url
        lone.relay += await answer_milliseconds(lambda _, load: relay_bot(url, load, PAUSE_SECONDS), seconds)
    with arena(1) as running:
        url = running.url
        lone.answer += await answer_milliseconds(
            lambda number, load: arena_bot(url, f"bot {number}", load, PAUSE_SECONDS), seconds
        )


async def lone_lines(seconds: float) -> list[str]:
    """The section: the disk's time, a relay's and the answer's, by turns."""
    lone = Lone()
    for _ in range(TURNS):
        await _measure(lone, seconds / TURNS)
    lines = report(lone)
    print("\n".join(lines), flush=True)
    return lines


def report(lone: Lone) -> list[str]:
    """What is told of what was measured."""
    alone, bare, whole = (statistics.median(each) for each in (lone.disk, lone.relay, lone.answer))
    found = f"{whole:.2f} ms, where the disk takes {alone:.2f} ms, and a relay that keeps nothing answers in {bare:.2f} ms"
    return [
        "## A lone move",
        (
            f"Two bots play one match, a move every {1000 * PAUSE_SECONDS:.0f} ms. *Disk* is a commit of one row by SQLite "
            "alone, as often, in the same folder; *answer* is from the sending of a move to the receiving of its answer, in "
            "the player, and *relay* the same for the same player at the relay of above, which keeps nothing. Whoever "
            "answers has slept since the move before, as has the player. Milliseconds, by turns."
        ),
        "",
        "| | p50 | p90 | p99 |",
        "| --- | --- | --- | --- |",
        _row("disk", lone.disk),
        _row("relay", lone.relay),
        _row("answer", lone.answer),
        "",
        claim("the answer to a lone move, p50", f"at most the disk's own commit and {MOST_MS:g} ms", found),
    ]


def _row(name: str, taken: Sequence[float]) -> str:
    cuts = statistics.quantiles(taken, n=100)
    return f"| {name} | {cuts[49]:.2f} | {cuts[89]:.2f} | {cuts[98]:.2f} |"
