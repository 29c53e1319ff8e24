"""Measurement of bots that play as fast as they can, on the server and on a relay.

A relay (`benchmarks.relay`) passes messages between bots, knows no game and stores nothing.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from benchmarks.kit.load_processes import ARENA, RELAY, LoadProcesses, run_loads
from benchmarks.kit.measure import format_markdown_table, format_spread
from benchmarks.kit.results import format_verdict
from benchmarks.kit.running_server import (
    RunningServer,
    list_server_cores,
    run_arena_server,
    run_server,
)
from benchmarks.kit.script import measure_frame_sizes

RAISED_LIMIT_OPTIONS = (
    "--set=limits.connections=10000",
    "--set=limits.connections_per_address=10000",
    "--set=limits.hello_seconds=60",
    "--set=limits.moves_per_second=1000000",
)
"""Options of `arena serve` that lift its limits for many fast bots, all of which connect from one address."""
BOT_COUNTS = (10, 100, 1000)
"""Numbers of bots with which the server and the relays are measured."""
WARM_UP_SECONDS = 1.5
"""Seconds from the connection of the last bot to the start of the measurement."""
MAX_CPU_RATIO_BY_BOT_COUNT = {10: 4.0, 100: 2.5, 1000: 2.5}
"""Promised upper bound of the CPU time per move on the server, divided by that on a relay, by number of bots."""
MAX_LOAD_CPU_SHARE = 0.8
"""CPU usage of a load process, as a share of one core, above which the load may limit the measured moves per second."""


@dataclass
class FullSpeedFigures:
    """Measurements of one run of the server, or of a relay in its place."""

    moves_per_second: float
    """Moves per second of all bots together."""
    cpu_us: float
    """CPU time of the server per move, in µs, user and kernel."""
    load_cpu_share: float
    """CPU usage of the busiest load process, as a share of one core."""


RunServer = Callable[[int], AbstractContextManager[RunningServer]]
"""Function that runs a server, or a relay in its place, for a number of bots."""


def serve_arena(bot_count: int) -> AbstractContextManager[RunningServer]:
    """Run a server on which `bot_count` bots can play at the same time."""
    return run_arena_server(bot_count // 2, *RAISED_LIMIT_OPTIONS, cores=list_server_cores())


def serve_relay(_bots: int) -> AbstractContextManager[RunningServer]:
    """Run a relay, which passes frames between pairs of clients. Its frames are as large as the server's."""
    sizes = [str(size) for size in measure_frame_sizes()]
    return run_server("benchmarks.relay", "PORT", *sizes, cores=list_server_cores())


@contextmanager
def serve_storing_relay(_bots: int) -> Iterator[RunningServer]:
    """Run a relay (see `serve_relay`) that also stores a row in SQLite before it answers a frame."""
    sizes = [str(size) for size in measure_frame_sizes()]
    with (
        tempfile.TemporaryDirectory(prefix="arena-relay-") as folder,
        run_server(
            "benchmarks.relay", "PORT", *sizes, f"{folder}/relay.db", cores=list_server_cores()
        ) as running,
    ):
        yield running


SERVERS: tuple[RunServer, ...] = (serve_arena, serve_relay, serve_storing_relay)
"""Functions that run the server and the relays with which it is compared, in the order of the table's columns."""


def measure_full_speed(
    run_server_or_relay: RunServer, bot_count: int, seconds: float, pause_seconds: float = 0.0
) -> FullSpeedFigures:
    """Run a server or a relay and `bot_count` bots, and measure both for `seconds`.

    pause_seconds: average pause of a bot before a move, in seconds
    """
    with (
        run_server_or_relay(bot_count) as running,
        run_loads(
            running.url,
            bot_count,
            client_kind=ARENA if run_server_or_relay is serve_arena else RELAY,
            pause_seconds=pause_seconds,
        ) as load,
    ):
        load.wait_until_all_connected(bot_count)
        time.sleep(WARM_UP_SECONDS)
        return measure_moves_and_cpu(running, load, seconds)


def measure_moves_and_cpu(running: RunningServer, load: LoadProcesses, seconds: float) -> FullSpeedFigures:
    """Return the moves per second and the CPU use of a running server or relay, measured for `seconds`."""
    moves, server_cpu_seconds, load_cpu_seconds, start_time = (
        load.moves,
        running.cpu_seconds,
        load.cpu_seconds(),
        time.perf_counter(),
    )
    time.sleep(seconds)
    elapsed_seconds = time.perf_counter() - start_time
    moves = max(1, load.moves - moves)
    shares = [
        (after - before) / elapsed_seconds
        for before, after in zip(load_cpu_seconds, load.cpu_seconds(), strict=True)
    ]
    if load.errors:
        print(f"  {load.errors} errors")
    return FullSpeedFigures(
        moves / elapsed_seconds, 1e6 * (running.cpu_seconds - server_cpu_seconds) / moves, max(shares)
    )


def measure_all_at_full_speed(seconds: float, round_count: int) -> dict[str, str]:
    """Measure the server and the relays with each number of bots in BOT_COUNTS, in `round_count` rounds of `seconds` each.

    Return the figures, by placeholder in SERVER.md. The column *storing* of their table is about the storing relay. The
    column *floor* is the CPU time of the storing relay divided by that of the relay without a store: no server that
    stores moves through the same libraries can have a lower ratio.
    """
    headings = ["bots", "CPU, arena", "relay", "ratio", "storing", "floor", "as often"]
    headings += ["moves/s, arena", "relay", "storing", "load"]
    rows, verdicts = [], {}
    for bots in BOT_COUNTS:
        runs, paced_cpu = [], []
        for _ in range(round_count):
            runs.append(
                [measure_full_speed(run_server_or_relay, bots, seconds) for run_server_or_relay in SERVERS]
            )
            # In each match, one of the two bots is to move.
            paced_cpu.append(
                measure_full_speed(serve_relay, bots, seconds, bots / 2 / runs[-1][0].moves_per_second).cpu_us
            )
        cpu = [statistics.median(run[kind].cpu_us for run in runs) for kind in range(len(SERVERS))]
        rates = [
            statistics.median(run[kind].moves_per_second for run in runs) for kind in range(len(SERVERS))
        ]
        ratios = [arena.cpu_us / relay.cpu_us for arena, relay, _ in runs]
        floor_ratios = [storing.cpu_us / relay.cpu_us for _, relay, storing in runs]
        load = " / ".join(
            _format_median_cpu_share([run[kind].load_cpu_share for run in runs]) for kind in range(2)
        )
        rows.append(
            [
                *(str(bots), f"{cpu[0]:.0f}", f"{cpu[1]:.0f}", format_spread(ratios, 1)),
                *(f"{cpu[2]:.0f}", format_spread(floor_ratios, 1), f"{statistics.median(paced_cpu):.0f}"),
                *(f"{rate:,.0f}" for rate in rates),
                load,
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
    return f"**{share:.0%}**" if share > MAX_LOAD_CPU_SHARE else f"{share:.0%}"
