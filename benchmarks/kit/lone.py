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
from benchmarks.kit.served import arena, metrics, told
from benchmarks.kit.stages import dearest

PAUSE_SECONDS = 0.03
"""From one move to the next, on the average."""
ROW = "x" * 200
"""A row as large as that of a move."""
MOST_MS = 0.4
"""What the answer may take beyond the disk's own time."""
TURNS = 3
"""How often each of what is compared is measured."""
ABOUT = {
    "disk": "a commit of one row by SQLite alone",
    "hand-over": "the rest of the journal's commit: the row in its transaction, the way to the writer's thread and back",
    "server": "what else is between arrival and announcement: the referee, messages, websocket frames, the kernel's sending",
    "way": "before and after: the player's own program, the kernel, and waking both processes up",
}
"""Where a lone move's time goes."""


@dataclass
class Lone:
    """What was measured, in milliseconds."""

    disk: list[float] = field(default_factory=list)
    """Commits of one row by SQLite alone."""
    relay: list[float] = field(default_factory=list)
    """Answers of a relay, which keeps nothing."""
    answer: list[float] = field(default_factory=list)
    """Answers of the server."""
    moves: list[float] = field(default_factory=list)
    """What a move took from its arrival to its announcement, as the server says: the mean of each time."""
    commits: list[float] = field(default_factory=list)
    """What a commit of the journal took, as the server says: the mean of each time."""

    def stages(self) -> dict[str, float]:
        """Where the mean of an answer goes."""
        disk, commit, move, answer = map(statistics.mean, (self.disk, self.commits, self.moves, self.answer))
        # They were measured one after the other, so that one may be the slower one that should not be.
        parts = (disk, commit - disk, move - commit, answer - move)
        return dict(zip(ABOUT, (max(0.0, each) for each in parts), strict=True))


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
    play: Callable[[int, Load], Coroutine[Any, Any, None]],
    seconds: float,
    look: Callable[[], object] = lambda: None,
) -> list[float]:
    """How long the one of two bots that was to move waited for each answer, from sending to receiving.

    play  a bot, by its number
    look  called before and after, beside the event loop
    """
    load = Load()
    async with asyncio.TaskGroup() as tasks:
        jobs = [tasks.create_task(play(number, load)) for number in range(2)]
        await all_in(load, 2)
        await asyncio.sleep(1)
        await asyncio.to_thread(look)
        load.seconds.clear()
        await asyncio.sleep(seconds)
        taken = [1000 * each for each in load.seconds]
        await asyncio.to_thread(look)
        for job in jobs:
            job.cancel()
    return taken


async def _measure(lone: Lone, seconds: float) -> None:
    """Measure each once, one after the other."""
    lone.disk += await asyncio.to_thread(disk_milliseconds, int(seconds / PAUSE_SECONDS))
    with serve_relay()(2) as running:
        url = running.url
        lone.relay += await answer_milliseconds(lambda _, load: relay_bot(url, load, PAUSE_SECONDS), seconds)
    with arena(1) as running:
        url = running.url
        said: list[str] = []
        lone.answer += await answer_milliseconds(
            lambda number, load: arena_bot(url, f"bot {number}", load, PAUSE_SECONDS),
            seconds,
            lambda: said.append(metrics(url)),
        )
    for name, means in (("arena_move_seconds", lone.moves), ("arena_journal_seconds", lone.commits)):
        before, after = (told(text, name) for text in said)
        means.append(after.mean_since(before))


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
    stages = lone.stages()
    alone, bare, whole = (statistics.median(each) for each in (lone.disk, lone.relay, lone.answer))
    found = f"{whole:.2f} ms, where the disk takes {alone:.2f} ms, and a relay that keeps nothing answers in {bare:.2f} ms"
    if whole > alone + MOST_MS:
        found += f"; the most of its mean goes into {dearest(stages)}"
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
        (
            "Where the mean of an answer goes, by what the server says of its moves and of its commits "
            "(`arena_move_seconds`, `arena_journal_seconds`):"
        ),
        "",
        "| stage | ms | what it is |",
        "| --- | --- | --- |",
        *(f"| {stage} | {each:.2f} | {ABOUT[stage]} |" for stage, each in stages.items()),
        f"| together | {sum(stages.values()):.2f} | |",
        "",
        claim("the answer to a lone move, p50", f"at most the disk's own commit and {MOST_MS:g} ms", found),
    ]


def _row(name: str, taken: Sequence[float]) -> str:
    cuts = statistics.quantiles(taken, n=100)
    return f"| {name} | {cuts[49]:.2f} | {cuts[89]:.2f} | {cuts[98]:.2f} |"
