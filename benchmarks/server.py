"""Comparison of the server with a relay, which only passes messages on (`benchmarks.relay`), in one run.

    python -m benchmarks.server [--rounds 3] [--write]

Each figure is a median over rounds, and each ratio compares consecutive runs. The load runs in separate processes on the
same machine, and the table shows its CPU usage. Latencies at a given rate are measured in the server, from a move's
arrival to the message that confirms it (`accepted`).
"""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Coroutine, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import uvloop

from benchmarks.kit.full_speed import RAISED_LIMIT_OPTIONS, measure_full_speed_by_bot_count, serve_relay
from benchmarks.kit.load import LoadCounters, measure_moves_per_second, run_arena_bot, run_bots, run_relay_bot
from benchmarks.kit.measure import compute_quantile, format_markdown_table
from benchmarks.kit.results import SERVER_PAGE, format_verdict, start_recording_conditions
from benchmarks.kit.running_server import (
    fetch_move_time_histogram,
    interpolate_quantile,
    raise_open_file_limit,
    run_arena_server,
)

LATENCY_QUANTILES = (0.5, 0.99, 0.999)
"""Quantiles of a move's latency to show when the bots play a fixed number of moves per second: p50, p99 and p99.9."""
MEAN_PAUSE_BEFORE_MOVE_SECONDS = 0.03
"""Average pause, in seconds, before each move of a single match, and before each commit that is timed for comparison."""
MAX_EXTRA_LATENCY_MS = 0.5
"""Promised upper bound, in ms, of a move's latency while only one match is played, minus the latency of a commit to disk."""
MAX_P99_MS, MAX_IDLE_KIB, MAX_PLAYING_KIB = 2.5, 9.1, 27.5
"""Promised upper bounds with 1,000 bots at 1,000 moves a second.

The bounds are for the p99 of the time from a move's arrival to its confirmation, in ms, and for the memory of an idle and of
a playing connection, in KiB.
"""
ROUND_SECONDS = 5.0
"""Length of a measurement of bots that play as fast as they can, in seconds. A measurement at a fixed rate of moves is twice
as long.
"""
LATENCY_MEASUREMENT_COUNT = 3
"""Number of times that the latencies of the disk, the relay and the server are measured in turn."""
STORED_ROW_TEXT = "x" * 200
"""Text of the row that each measured commit inserts, which is as large as the row that the server stores for a move."""


@dataclass
class FiguresAtMoveRate:
    """Measurements of one run at a given rate of moves.

    requested_moves_per_second, measured_moves_per_second: moves per second of all bots together
    latency_quantiles_ms: p50, p99 and p99.9 of the time from a move's arrival to the message `accepted`, in ms
    kib_per_idle_bot: memory of the server per idle connection, in KiB
    kib_per_playing_bot: additional memory of the server per connection that plays, in KiB
    """

    bot_count: int
    requested_moves_per_second: float
    measured_moves_per_second: float
    latency_quantiles_ms: list[float]
    forfeit_count: int
    kib_per_idle_bot: float
    kib_per_playing_bot: float


async def _measure_at_move_rate(bot_count: int, moves_per_second: float) -> FiguresAtMoveRate:
    """Measure the server with `bot_count` idle bots, then also with `bot_count` bots that play.

    moves_per_second: moves per second of all bots together
    """
    load = LoadCounters()
    # In each match, one of the two bots is to move.
    pause_seconds = bot_count / 2 / moves_per_second
    with run_arena_server(bot_count // 2, *RAISED_LIMIT_OPTIONS) as running:
        empty_bytes = running.memory_bytes
        idle = [
            run_arena_bot(running.url, f"idle {number}", load, joins_pool=False)
            for number in range(bot_count)
        ]
        async with run_bots(load, idle):
            await asyncio.sleep(1)
            idle_bytes = running.memory_bytes
            playing = [
                run_arena_bot(running.url, f"bot {number}", load, pause_seconds)
                for number in range(bot_count)
            ]
            async with run_bots(load, playing):
                await asyncio.sleep(min(5.0, 2 * pause_seconds))
                before = await asyncio.to_thread(fetch_move_time_histogram, running.url)
                measured_rate = await measure_moves_per_second(load, 2 * ROUND_SECONDS)
                after = await asyncio.to_thread(fetch_move_time_histogram, running.url)
                playing_bytes = running.memory_bytes
    if load.errors:
        print(f"  {len(load.errors)} errors, the first: {load.errors[0]}")
    counts = {bound: after[bound] - before.get(bound, 0) for bound in after}
    latencies = [1000 * interpolate_quantile(counts, quantile) for quantile in LATENCY_QUANTILES]
    return FiguresAtMoveRate(
        bot_count,
        moves_per_second,
        measured_rate,
        latencies,
        len(load.forfeit_reasons),
        (idle_bytes - empty_bytes) / bot_count / 1024,
        (playing_bytes - idle_bytes) / bot_count / 1024,
    )


def measure_commit_latencies_ms(commit_count: int) -> list[float]:
    """Return the latencies in ms of `commit_count` durable commits of one row by SQLite, about MEAN_PAUSE_BEFORE_MOVE_SECONDS apart."""
    with (
        tempfile.TemporaryDirectory(prefix="arena-bench-") as folder,
        closing(sqlite3.connect(f"{folder}/disk.db", isolation_level=None)) as connection,
    ):
        # Commits wait for the disk as the server's do.
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT)")
        durations = []
        for _ in range(commit_count):
            time.sleep(MEAN_PAUSE_BEFORE_MOVE_SECONDS)
            start_time = time.perf_counter()
            connection.execute("INSERT INTO rows (text) VALUES (?)", (STORED_ROW_TEXT,))
            durations.append(1000 * (time.perf_counter() - start_time))
    return durations


async def measure_answer_latencies_ms(
    load: LoadCounters, bots: Sequence[Coroutine[Any, Any, None]], seconds: float
) -> list[float]:
    """Run `bots`, which share `load`, for `seconds`. Return the ms from sending to acknowledgement, for each move."""
    async with run_bots(load, bots):
        await asyncio.sleep(1)
        load.latencies_seconds.clear()
        await asyncio.sleep(seconds)
        return [1000 * latency for latency in load.latencies_seconds]


async def measure_single_match_latencies() -> dict[str, str]:
    """Measure three latencies: of a single match's moves on the server, of the same moves on the relay, and of a commit to
    disk.

    Each latency is measured LATENCY_MEASUREMENT_COUNT times, in turn with the others. Return the texts to write into SERVER.md, by the
    name of their placeholder.
    """
    disk, relay, answer = list[float](), list[float](), list[float]()
    each_seconds = 2 * ROUND_SECONDS / LATENCY_MEASUREMENT_COUNT
    for _ in range(LATENCY_MEASUREMENT_COUNT):
        disk += await asyncio.to_thread(
            measure_commit_latencies_ms, int(each_seconds / MEAN_PAUSE_BEFORE_MOVE_SECONDS)
        )
        load = LoadCounters()
        with serve_relay() as running:
            bots = [run_relay_bot(running.url, load, MEAN_PAUSE_BEFORE_MOVE_SECONDS) for _ in range(2)]
            relay += await measure_answer_latencies_ms(load, bots, each_seconds)
        load = LoadCounters()
        with run_arena_server(1) as running:
            bots = [
                run_arena_bot(running.url, name, load, MEAN_PAUSE_BEFORE_MOVE_SECONDS) for name in ("a", "b")
            ]
            answer += await measure_answer_latencies_ms(load, bots, each_seconds)
    disk_p50, relay_p50, answer_p50 = (statistics.median(times) for times in (disk, relay, answer))
    figure = (
        f"{answer_p50:.2f} ms; the disk takes {disk_p50:.2f} ms, and a relay answers in {relay_p50:.2f} ms"
    )
    rows = [
        [name, *(f"{compute_quantile(times, share):.2f}" for share in (0.5, 0.9, 0.99))]
        for name, times in {"disk": disk, "relay": relay, "answer": answer}.items()
    ]
    return {
        "lone.table": format_markdown_table(["", "p50", "p90", "p99"], rows),
        "lone.answer": format_verdict(figure, is_bound_kept=answer_p50 - disk_p50 <= MAX_EXTRA_LATENCY_MS),
    }


async def measure_latency_by_bot_count() -> dict[str, str]:
    """Measure the server with 10, 100 and 1,000 playing bots and as many idle ones, at a fixed rate of moves.

    Return the texts to write into SERVER.md, by the name of their placeholder.
    """
    figures = []
    for bots in (10, 100, 1000):
        figures.append(await _measure_at_move_rate(bots, float(bots)))
        print(figures[-1], flush=True)
    headings = ["playing", "moves/s asked", "moves/s", "p50 ms", "p99 ms", "p99.9 ms", "false forfeits"]
    headings += ["KiB per idle connection", "KiB more per playing connection"]
    rows = [
        [
            *(
                figure.bot_count,
                f"{figure.requested_moves_per_second:,.0f}",
                f"{figure.measured_moves_per_second:,.0f}",
            ),
            *(f"{milliseconds:.1f}" for milliseconds in figure.latency_quantiles_ms),
            *(figure.forfeit_count, f"{figure.kib_per_idle_bot:.1f}", f"{figure.kib_per_playing_bot:.1f}"),
        ]
        for figure in figures
    ]
    paced = figures[-1]
    p99 = paced.latency_quantiles_ms[1]
    text = (
        f"p99 {p99:.1f} ms, {paced.forfeit_count} forfeits at {paced.measured_moves_per_second:,.0f} moves/s"
    )
    idle, playing = f"{paced.kib_per_idle_bot:.1f} KiB", f"{paced.kib_per_playing_bot:.1f} KiB"
    return {
        "paced.table": format_markdown_table(headings, rows),
        "paced.p99": format_verdict(text, is_bound_kept=p99 <= MAX_P99_MS and not paced.forfeit_count),
        "paced.idle": format_verdict(idle, is_bound_kept=paced.kib_per_idle_bot <= MAX_IDLE_KIB),
        "paced.playing": format_verdict(playing, is_bound_kept=paced.kib_per_playing_bot <= MAX_PLAYING_KIB),
    }


def main() -> None:
    """Measure the server and the relay, and print the figures. With `--write`, also write them to SERVER.md."""
    parser = SERVER_PAGE.make_parser(__doc__)
    parser.add_argument(
        "--rounds",
        type=int,
        default=3,
        help="number of times to measure bots that play as fast as they can; default: %(default)s",
    )
    arguments = SERVER_PAGE.parse_arguments(parser)
    raise_open_file_limit()
    get_conditions = start_recording_conditions()
    figures = measure_full_speed_by_bot_count(ROUND_SECONDS, arguments.rounds)
    figures |= uvloop.run(measure_single_match_latencies())
    figures |= uvloop.run(measure_latency_by_bot_count())
    SERVER_PAGE.publish("speed", figures, get_conditions, should_write=arguments.write)


if __name__ == "__main__":
    main()
