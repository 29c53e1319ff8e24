"""Cost of spectators for the players of a match: the time until the server acknowledges a move.

    python -m benchmarks.spectators [--write]

Two bots that think for about 10 ms play match after match, alternately without and with spectators who read everything.
A round has a period without spectators and one with them. The ratio of a round is the p99 (99th percentile of the times until a
move is acknowledged) with spectators, divided by the p99 without them. The result is the median of the ratios. Server and spectators run in separate
processes, but on two cores the spectators still take CPU time from the server. A run takes about a minute and a half.
"""

from __future__ import annotations

import asyncio
import statistics
from typing import NamedTuple

import uvloop

from benchmarks.kit.load import LoadCounters, measure_moves_per_second, run_arena_bot, run_bots
from benchmarks.kit.load_processes import SPECTATOR_CLIENT, run_load_processes
from benchmarks.kit.measure import MeasuredRatio, compute_quantile, format_markdown_table
from benchmarks.kit.results import SERVER_PAGE, format_verdict, start_recording_conditions
from benchmarks.kit.running_server import run_arena_server

SPECTATOR_COUNT = 200
"""Number of spectators. The bound MAX_P99_RATIO is promised for this number."""
MEAN_PAUSE_BEFORE_MOVE_SECONDS = 0.01
"""Average thinking time of a bot, in seconds. The bot sleeps meanwhile, so the machine is partly idle."""
MAX_P99_RATIO = 1.2
"""Promised upper bound of the p99 of the time until a move is acknowledged: with spectators, divided by without them."""
ROUND_COUNT = 7
"""Number of periods with spectators, and of periods without them."""
MEASUREMENT_PERIOD_SECONDS = 5.0
"""Length of each period with or without spectators, in seconds."""


async def measure_p99_latency_ms(load: LoadCounters) -> float:
    """Measure for one period. Return the 99th percentile of the times from sending a move to its acknowledgement, in ms."""
    load.latencies_seconds.clear()
    await measure_moves_per_second(load, MEASUREMENT_PERIOD_SECONDS)
    return 1000 * compute_quantile(load.latencies_seconds, 0.99)


class LatencyRounds(NamedTuple):
    """99th percentile of the times until a move is acknowledged, in each round, in ms."""

    without_spectators_ms: list[float]
    with_spectators_ms: list[float]


async def measure_latency_rounds() -> LatencyRounds:
    """Let two bots play, alternately without and with spectators, and measure the p99 latency of each period."""
    # All spectators come from one address.
    limits = (
        f"--set=limits.connections_per_address={SPECTATOR_COUNT + 10}",
        "--set=limits.work_ms_per_second=1000000",
    )
    load, rounds = LoadCounters(), LatencyRounds([], [])
    with run_arena_server(1, *limits) as server:
        async with run_bots(
            load,
            [run_arena_bot(server.url, name, load, MEAN_PAUSE_BEFORE_MOVE_SECONDS) for name in ("a", "b")],
        ):
            await measure_p99_latency_ms(load)
            for _ in range(ROUND_COUNT):
                rounds.without_spectators_ms.append(await measure_p99_latency_ms(load))
                with run_load_processes(
                    server.url, SPECTATOR_COUNT, client_kind=SPECTATOR_CLIENT, name_prefix="spectator"
                ) as spectator_processes:
                    await asyncio.to_thread(spectator_processes.wait_until_all_connected, SPECTATOR_COUNT)
                    rounds.with_spectators_ms.append(await measure_p99_latency_ms(load))
    return rounds


def main() -> None:
    """Measure and print the p99 of moves with and without spectators. With `--write`, also write it to SERVER.md."""
    parser = SERVER_PAGE.make_parser(__doc__)
    arguments = SERVER_PAGE.parse_arguments(parser)
    get_conditions = start_recording_conditions()
    rounds = uvloop.run(measure_latency_rounds())
    ratio = MeasuredRatio([with_them / without for without, with_them in zip(*rounds, strict=True)])
    without, with_them = (f"{statistics.median(figures):.2f} ms" for figures in rounds)
    headings = ["spectators", "p99 without them", "p99 with them", "ratio"]
    text = f"{without} without, {with_them} with them: {ratio.format_with_range('×')}"
    figures = {
        "spectators.table": format_markdown_table(headings, [[SPECTATOR_COUNT, without, with_them, ratio]]),
        "spectators.ratio": format_verdict(text, is_bound_kept=ratio.median <= MAX_P99_RATIO),
    }
    SERVER_PAGE.publish("spectators", figures, get_conditions, should_write=arguments.write)


if __name__ == "__main__":
    main()
