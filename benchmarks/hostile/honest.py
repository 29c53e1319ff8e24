"""Honest bots that play on the attacked server, and the measurement of their moves over a period."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.kit.load import Load, arena_bot, measured
from benchmarks.kit.served import Running, histogram, quantile

RATE = 300.0
"""Moves per second of all honest bots together."""
BOTS = 100
HONEST = [f"bot {number}" for number in range(BOTS)]
"""Names of the honest bots."""
SOURCES = 4
"""Number of addresses of the honest bots: each address may have 64 connections."""


RUN = 100
"""Number of moves in a run: a third of a second."""


@dataclass(frozen=True)
class Window:
    """Measurements over one period."""

    p99: float
    """Median of the 99th percentiles of the runs of `RUN` consecutive moves, in ms, as the bots see them.

    The strangers' requests are spread over the whole period, because the server handles them at a limited rate. So their
    cost is in every run. A pause of the machine, for example of its disk, is in one or two of them.
    """
    whole: float
    """99th percentile of all moves of the period, in ms. One pause of 30 ms decides it."""
    inside: float
    """99th percentile of the server's time from arrival to announcement, in ms, of all moves."""
    cpu: float
    """CPU usage of the server, as a share of one core."""


def honest_bots(
    tasks: asyncio.TaskGroup, url: str, load: Load, tokens: Mapping[str, str]
) -> list[asyncio.Task[None]]:
    """Start BOTS bots that together play RATE moves per second. `tokens`: token of each name."""
    return [
        tasks.create_task(
            arena_bot(
                url,
                name,
                load,
                BOTS / 2 / RATE,
                token=tokens[name],
                source=f"127.0.1.{1 + number % SOURCES}",
            )
        )
        for number, name in enumerate(HONEST)
    ]


async def window(server: Running, load: Load, seconds: float) -> Window:
    """Measure the bots and their server for `seconds`."""
    before = await asyncio.to_thread(histogram, server.url)
    load.seconds.clear()
    cpu, began = server.cpu, time.monotonic()
    await measured(load, 0, seconds)
    cpu, took = server.cpu - cpu, time.monotonic() - began
    # Where nothing was acknowledged at all, each move took longer than that.
    durations = [1000 * each for each in load.seconds] or [1000 * took]
    after = await asyncio.to_thread(histogram, server.url)
    counts = {bound: after[bound] - before.get(bound, 0) for bound in after}
    return Window(p99_of_runs(durations), p99(durations), 1000 * quantile(counts, 0.99), cpu / took)


def p99(values: Sequence[float]) -> float:
    """Return the 99th percentile."""
    return sorted(values)[int(0.99 * (len(values) - 1))]


def p99_of_runs(values: Sequence[float]) -> float:
    """Return the median of the 99th percentiles of the runs of `RUN` consecutive values. The last run may be longer."""
    runs = max(1, len(values) // RUN)
    return statistics.median(
        p99(values[run * RUN : (run + 1) * RUN if run + 1 < runs else None]) for run in range(runs)
    )
