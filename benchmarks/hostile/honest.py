"""Honest bots, which follow the rules and play on the attacked server, and the latencies of their moves over a period."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.kit.load import LoadCounters, run_arena_bot
from benchmarks.kit.measure import compute_quantile
from benchmarks.kit.running_server import RunningServer
from benchmarks.kit.scripted_match import make_scripted_moves

TOTAL_MOVES_PER_SECOND = 300.0
"""Moves per second of all honest bots together."""
HONEST_BOT_COUNT = 100
MEAN_PAUSE_BEFORE_MOVE_SECONDS = HONEST_BOT_COUNT / 2 / TOTAL_MOVES_PER_SECOND
"""Average pause of an honest bot before a move, in seconds. In each match, one of the two bots pauses at a time."""
HONEST_BOT_NAMES = [f"bot {number}" for number in range(HONEST_BOT_COUNT)]
HONEST_ADDRESS_COUNT = 4
"""Number of addresses from which the honest bots connect. The server allows 64 connections per address."""


MOVES_PER_BATCH = 100
"""Number of consecutive moves over which each 99th percentile is computed. The bots play 100 moves in a third of a second."""


@dataclass(frozen=True)
class HonestFigures:
    """Latencies of the honest bots' moves over one quiet or hostile period, from sending a move to its acknowledgement."""

    median_batch_p99_ms: float
    """Median, in ms, of the 99th percentiles of all batches, where a batch is MOVES_PER_BATCH consecutive moves.

    Strangers affect every batch, because the server limits their rate. A pause of the machine affects only one or two.
    """
    overall_p99_ms: float
    """99th percentile of the latencies of all moves of the period, in ms. A single pause of the machine can raise it."""
    server_cpu_share: float
    """CPU usage of the process that serves matches, as a share of one core, 0 to 1."""


def make_honest_bots(
    url: str, load: LoadCounters, tokens: Mapping[str, str]
) -> list[Coroutine[Any, Any, None]]:
    """Return HONEST_BOT_COUNT bots, which together play TOTAL_MOVES_PER_SECOND moves per second.

    The bots connect evenly over the duration of a match. Otherwise all matches would end, and be stored and counted, in
    the same few seconds, and a measured period with these seconds would have twice the p99 of other periods.

    url: URL of the server
    load: counters to which the bots add their moves
    tokens: token of each bot, by name
    """

    async def run_bot(number: int, name: str) -> None:
        await asyncio.sleep(
            len(make_scripted_moves()) * MEAN_PAUSE_BEFORE_MOVE_SECONDS * number / HONEST_BOT_COUNT
        )
        source = f"127.0.1.{1 + number % HONEST_ADDRESS_COUNT}"
        await run_arena_bot(
            url, name, load, MEAN_PAUSE_BEFORE_MOVE_SECONDS, token=tokens[name], source_address=source
        )

    return [run_bot(number, name) for number, name in enumerate(HONEST_BOT_NAMES)]


async def measure_honest_bots(server: RunningServer, load: LoadCounters, seconds: float) -> HonestFigures:
    """Measure the latencies of the bots' moves, and the server's CPU usage, for `seconds`.

    If no move is acknowledged in that time, the latencies are unknown, but longer than the period. Then the figures show the
    length of the period, as a lower bound of the latencies.
    """
    load.latencies_seconds.clear()
    cpu_seconds, start_time = server.cpu_seconds, time.monotonic()
    await asyncio.sleep(seconds)
    cpu_seconds, duration = server.cpu_seconds - cpu_seconds, time.monotonic() - start_time
    # If no move was acknowledged, each one took longer than the whole period.
    durations = [1000 * latency for latency in load.latencies_seconds] or [1000 * duration]
    return HonestFigures(
        compute_median_batch_p99(durations), compute_quantile(durations, 0.99), cpu_seconds / duration
    )


def compute_median_batch_p99(latencies_ms: Sequence[float]) -> float:
    """Return the median of the 99th percentiles of all batches of MOVES_PER_BATCH consecutive latencies.

    Latencies left over after the last full batch are added to the last batch.
    """
    batch_count = max(1, len(latencies_ms) // MOVES_PER_BATCH)
    return statistics.median(
        compute_quantile(
            latencies_ms[
                batch * MOVES_PER_BATCH : (batch + 1) * MOVES_PER_BATCH if batch + 1 < batch_count else None
            ],
            0.99,
        )
        for batch in range(batch_count)
    )
