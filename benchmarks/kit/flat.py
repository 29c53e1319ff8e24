"""Measurement of bots that play as fast as they can, on the server and on a bare relay (`benchmarks.relay`)."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from benchmarks.kit.load_processes import ARENA, RELAY, LoadProcesses, run_loads
from benchmarks.kit.measure import format_spread
from benchmarks.kit.results import format_claim
from benchmarks.kit.running_server import (
    RunningServer,
    load_cores,
    run_arena_server,
    run_server,
    server_cores,
)
from benchmarks.kit.script import measure_frame_sizes

LIMIT_OPTIONS = (
    *(
        "--set=limits.connections=10000",
        "--set=limits.connections_per_address=10000",
        "--set=limits.hello_seconds=60",
    ),
    "--set=limits.moves_per_second=1000000",  # all bots come from one address
)
SIZES = (10, 100, 1000)
"""Numbers of bots with which server and relay are measured."""
WARM_SECONDS = 1.5
"""Seconds from the connection of the last bot to the start of the measurement."""
MAX_RATIO = {10: 4.0, 100: 2.5, 1000: 2.5}
"""Promised upper bound of the CPU time per move on the server, divided by that on a relay, by number of bots."""
MAX_LOAD_SHARE = 0.8
"""CPU usage of a load process, as a share of one core, above which the load may limit the measured moves per second."""


@dataclass
class FullSpeedFigures:
    """Measurements of one run of the server, or of a relay in its place."""

    rate: float
    """Moves per second of all bots together."""
    server: float
    """CPU time of the server per move, in µs, user and kernel."""
    load: float
    """CPU usage of the busiest load process, as a share of one core."""


RunServer = Callable[[int], AbstractContextManager[RunningServer]]
"""Function that runs a server, or a relay in its place, for a number of bots."""


def serve_arena(bots: int) -> AbstractContextManager[RunningServer]:
    """Run a server on which `bots` bots can play at the same time."""
    return run_arena_server(bots // 2, *LIMIT_OPTIONS, cores=server_cores())


def serve_relay(_bots: int) -> AbstractContextManager[RunningServer]:
    """Run a relay whose frames are as large as the server's."""
    sizes = [str(size) for size in measure_frame_sizes()]
    return run_server("benchmarks.relay", "PORT", *sizes, cores=server_cores())


@contextmanager
def serve_storing_relay(_bots: int) -> Iterator[RunningServer]:
    """Run a relay whose frames are as large as the server's, and which stores a row before each answer."""
    sizes = [str(size) for size in measure_frame_sizes()]
    with (
        tempfile.TemporaryDirectory(prefix="arena-relay-") as folder,
        run_server("benchmarks.relay", "PORT", *sizes, f"{folder}/relay.db", cores=server_cores()) as running,
    ):
        yield running


SERVERS: tuple[RunServer, ...] = (serve_arena, serve_relay, serve_storing_relay)
"""Functions that run the server and the relays with which it is compared, in the order of the table's columns."""


def measure_full_speed(
    run_server_or_relay: RunServer, bots: int, seconds: float, pause: float = 0.0
) -> FullSpeedFigures:
    """Measure `bots` bots on a server or a relay for `seconds`. `pause`: average pause before a move, in seconds."""
    with (
        run_server_or_relay(bots) as running,
        run_loads(
            running.url, bots, kind=ARENA if run_server_or_relay is serve_arena else RELAY, pause=pause
        ) as load,
    ):
        load.wait_until_all_connected(bots)
        time.sleep(WARM_SECONDS)
        return measure_moves(running, load, seconds)


def measure_moves(running: RunningServer, load: LoadProcesses, seconds: float) -> FullSpeedFigures:
    """Measure a running server or relay and its load processes for `seconds`."""
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


def make_full_speed_section(seconds: float, rounds: int) -> tuple[list[str], dict[int, list[float]]]:
    """Measure server and relay with each number of bots in SIZES, in `rounds` rounds of `seconds` each.

    Return the lines of the section of SERVER.md, and the ratios of CPU time per move, server to relay, of all rounds by
    number of bots.
    """
    has_separate_cores = server_cores() != load_cores()
    lines = [
        f"## Flat out, against a bare relay (medians of {rounds} rounds)",
        (
            "Bots play as fast as they can, on the arena and on a *relay*: a server that knows no game and stores nothing. For each move, "
            "the relay writes the same messages as the arena, an answer to the mover and a turn to the opponent, on the same kind of "
            "connections. So the difference between the two is the cost of the game, the lobby and the journal. A *storing* relay also "
            "stores a row in SQLite before each answer. A thread commits all rows together that arrived during the previous commit. A "
            "server that stores its moves through the same libraries cannot cost less.\n\n"
            "- *CPU* is the CPU time of the server process, in µs per move. The *ratio* is the CPU time of the arena divided by that of "
            "the relay, and the *floor* is the CPU time of the storing relay divided by that of the relay.\n"
            f"- *Load* is the CPU time of the busiest of {len(load_cores())} load generators, as a share of one core, with the arena and "
            "with the relay. The load generators run on "
            + ("separate cores" if has_separate_cores else "the same cores as the server")
            + f". A share over {MAX_LOAD_SHARE:.0%} is in bold, because the load generator may then limit the moves a second.\n"
            "- *As often* is the CPU time of the relay, in µs per move, when it handles as many moves a second as the arena. This time "
            "is higher than at full speed, where a relay reads tens of frames at once: at a lower rate it wakes up for each frame.\n\n"
            "With few bots, the arena handles fewer moves a second than the relay, because each bot waits for the commit of its move."
        ),
        "",
        "| bots | CPU, arena | relay | ratio | storing | floor | as often | moves/s, arena | relay | storing | load |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    results = {}
    for bots in SIZES:
        runs, paced_cpu = [], []
        for _ in range(rounds):
            runs.append(
                [measure_full_speed(run_server_or_relay, bots, seconds) for run_server_or_relay in SERVERS]
            )
            # In each match, one of the two bots is to move.
            paced_cpu.append(
                measure_full_speed(serve_relay, bots, seconds, bots / 2 / runs[-1][0].rate).server
            )
        cpu = [statistics.median(run[kind].server for run in runs) for kind in range(len(SERVERS))]
        rates = [statistics.median(run[kind].rate for run in runs) for kind in range(len(SERVERS))]
        results[bots] = [arena.server / relay.server for arena, relay, _ in runs]
        floor_ratios = [storing.server / relay.server for _, relay, storing in runs]
        load = " / ".join(_format_share([run[kind].load for run in runs]) for kind in range(2))
        lines.append(
            f"| {bots} | {cpu[0]:.0f} | {cpu[1]:.0f} | {format_spread(results[bots], 1)} | {cpu[2]:.0f} | {format_spread(floor_ratios, 1)} "
            f"| {statistics.median(paced_cpu):.0f} | {rates[0]:,.0f} | {rates[1]:,.0f} | {rates[2]:,.0f} | {load} |"
        )
        print(lines[-1], flush=True)
    return lines, results


def make_claims(ratios: Mapping[int, Sequence[float]]) -> list[str]:
    """Return lines with the promised and measured ratios (CPU time per move, server to relay), by number of bots."""
    lines = []
    for bots, ratio in ratios.items():
        subject = f"CPU time of a move with {bots:,} bots, compared with a relay (a server that knows no game and stores nothing)"
        promise, kept = f"at most {MAX_RATIO[bots]:g} ×", statistics.median(ratio) <= MAX_RATIO[bots]
        lines += [format_claim(subject, promise, f"{format_spread(ratio, 1)} ×", kept=kept), ""]
    return lines[:-1]


def _format_share(shares: list[float]) -> str:
    share = statistics.median(shares)
    return f"**{share:.0%}**" if share > MAX_LOAD_SHARE else f"{share:.0%}"
