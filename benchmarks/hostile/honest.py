"""Honest bots that play on the attacked server, and the measurement of their moves over a period."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
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


@dataclass(frozen=True)
class Window:
    """Measurements over one period."""

    p99: float
    """Percentiles of the bots' round trips, in ms."""
    inside: float
    """Percentiles of the server's time from arrival to announcement, in ms."""
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
    durations = sorted(load.seconds) or [took]
    after = await asyncio.to_thread(histogram, server.url)
    counts = {bound: after[bound] - before.get(bound, 0) for bound in after}
    return Window(
        1000 * durations[int(0.99 * (len(durations) - 1))], 1000 * quantile(counts, 0.99), cpu / took
    )
