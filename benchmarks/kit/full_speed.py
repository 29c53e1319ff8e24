"""Measurement of bots that play as fast as they can, on the server and on a relay.

A relay (`benchmarks.relay`) passes messages between bots, knows no game and stores nothing.
"""

from __future__ import annotations

import statistics
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass

from benchmarks.kit.load_processes import ARENA_CLIENT, RELAY_CLIENT, LoadProcesses, run_load_processes
from benchmarks.kit.measure import format_markdown_table, format_spread
from benchmarks.kit.results import format_verdict
from benchmarks.kit.running_server import RunningServer, run_arena_server, run_server, split_cores
from benchmarks.kit.scripted_match import measure_message_sizes

RAISED_LIMIT_OPTIONS = (
    "--set=limits.connections=10000",
    "--set=limits.connections_per_address=10000",
    "--set=limits.hello_seconds=60",
    "--set=limits.moves_per_second=1000000",
)
"""Options of `arena serve` that lift its limits for many fast bots, all of which connect from one address."""
COMPARED_BOT_COUNTS = (10, 100, 1000)
"""Numbers of bots with which the server and the relay are measured."""
WARM_UP_SECONDS = 1.5
"""Seconds for which all bots are connected and play before the measurement starts."""
MAX_CPU_RATIO_BY_BOT_COUNT = {10: 4.0, 100: 2.5, 1000: 2.5}
"""Promised upper bound, by number of bots, of a ratio: CPU time per move on the server, divided by the CPU time on a relay."""
MAX_CLIENT_CPU_SHARE = 0.8
"""CPU usage of a load process, as a share of one core, above which it is shown in bold: the load may be the bottleneck."""


@dataclass
class FullSpeedFigures:
    """Measurements of one run of the server, or, for comparison, of a relay, which only passes messages on."""

    moves_per_second: float
    """Moves per second of all bots together."""
    cpu_us_per_move: float
    """CPU time of the server per move, in µs, user and kernel."""
    client_cpu_share: float
    """CPU usage of the busiest load process, as a share of one core."""


def serve_arena(bot_count: int, database_url: str = "") -> AbstractContextManager[RunningServer]:
    """Return a context manager that runs a server on which `bot_count` bots can play at the same time.

    database_url: URL of the store; empty for a temporary SQLite file
    """
    server_cores, _ = split_cores()
    return run_arena_server(
        bot_count // 2, *RAISED_LIMIT_OPTIONS, database_url=database_url, cores=server_cores
    )


def serve_relay() -> AbstractContextManager[RunningServer]:
    """Return a context manager that runs a relay for any number of bots. The relay's frames are as large as the server's."""
    sizes = [str(size) for size in measure_message_sizes()]
    return run_server("benchmarks.relay", "PORT", *sizes, cores=split_cores()[0])


def measure_full_speed(client_kind: str, bot_count: int, seconds: float) -> FullSpeedFigures:
    """Run a server (for ARENA_CLIENT) or a relay (for RELAY_CLIENT), and `bot_count` bots, and measure both for `seconds`."""
    with (
        serve_arena(bot_count) if client_kind == ARENA_CLIENT else serve_relay() as running,
        run_load_processes(running.url, bot_count, client_kind=client_kind) as load,
    ):
        load.wait_until_all_connected(bot_count)
        time.sleep(WARM_UP_SECONDS)
        return measure_moves_and_cpu(running, load, seconds)


def measure_moves_and_cpu(server: RunningServer, load: LoadProcesses, seconds: float) -> FullSpeedFigures:
    """Return the moves per second and the CPU use of a running server or relay, measured for `seconds`."""
    moves, server_cpu_seconds, load_cpu_seconds, start_time = (
        load.move_count,
        server.cpu_seconds,
        load.list_cpu_seconds(),
        time.perf_counter(),
    )
    time.sleep(seconds)
    elapsed_seconds = time.perf_counter() - start_time
    moves = max(1, load.move_count - moves)
    shares = [
        (after - before) / elapsed_seconds
        for before, after in zip(load_cpu_seconds, load.list_cpu_seconds(), strict=True)
    ]
    if load.error_count:
        print(f"  {load.error_count} errors")
    return FullSpeedFigures(
        moves / elapsed_seconds, 1e6 * (server.cpu_seconds - server_cpu_seconds) / moves, max(shares)
    )


def measure_full_speed_by_bot_count(seconds: float, round_count: int) -> dict[str, str]:
    """Measure the server and the relay with each number of bots in COMPARED_BOT_COUNTS, in `round_count` rounds of `seconds` each.

    Return the texts to write into SERVER.md, by the name of their placeholder.
    """
    headings = ["bots", "CPU, arena", "relay", "ratio", "moves/s, arena", "relay", "load"]
    rows, verdicts = [], {}
    for bots in COMPARED_BOT_COUNTS:
        arena, relay = list[FullSpeedFigures](), list[FullSpeedFigures]()
        for _ in range(round_count):
            arena.append(measure_full_speed(ARENA_CLIENT, bots, seconds))
            relay.append(measure_full_speed(RELAY_CLIENT, bots, seconds))
        ratios = [
            arena_run.cpu_us_per_move / relay_run.cpu_us_per_move
            for arena_run, relay_run in zip(arena, relay, strict=True)
        ]
        rows.append(
            [
                str(bots),
                *(f"{statistics.median(run.cpu_us_per_move for run in runs):.0f}" for runs in (arena, relay)),
                format_spread(ratios, 1),
                *(
                    f"{statistics.median(run.moves_per_second for run in runs):,.0f}"
                    for runs in (arena, relay)
                ),
                " / ".join(
                    _format_median_cpu_share([run.client_cpu_share for run in runs])
                    for runs in (arena, relay)
                ),
            ]
        )
        print(rows[-1], flush=True)
        is_kept = statistics.median(ratios) <= MAX_CPU_RATIO_BY_BOT_COUNT[bots]
        verdicts[f"speed.ratio {bots}"] = format_verdict(
            f"{format_spread(ratios, 1)} ×", is_bound_kept=is_kept
        )
    return {"speed.table": format_markdown_table(headings, rows), **verdicts}


def _format_median_cpu_share(cpu_shares: list[float]) -> str:
    share = statistics.median(cpu_shares)
    return f"**{share:.0%}**" if share > MAX_CLIENT_CPU_SHARE else f"{share:.0%}"
