"""Cost of a move by number of connections, and by number of finished matches in the store.

    python -m benchmarks.growth [--write]

Some bots play as fast as they can, first beside a growing number of idle connections, then on databases with a growing
number of finished matches. The server on each database is killed during matches and started again.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.kit.filled_store import STORE_KIND_TITLES, create_database, create_filled_store
from benchmarks.kit.full_speed import WARM_UP_SECONDS, measure_moves_and_cpu, serve_arena
from benchmarks.kit.load_processes import ARENA_CLIENT, IDLE_CLIENT, LoadProcesses, run_load_processes
from benchmarks.kit.measure import format_markdown_table, format_spread
from benchmarks.kit.results import SERVER_PAGE, format_verdict, start_recording_conditions
from benchmarks.kit.running_server import RunningServer, raise_open_file_limit

CONNECTION_COUNTS = (10, 100, 1_000, 5_000, 10_000)
"""Numbers of connections with which the cost of a move is measured."""
PLAYING_BOT_COUNT_AMONG_IDLE = 10
"""Number of bots that play while the other connections are idle."""
STORED_MATCH_COUNTS = (1, 10_000, 1_000_000)
"""Numbers of finished matches in the stores (databases) whose cost of a move is compared."""
ROUND_COUNT, ROUND_SECONDS = 3, 5.0
"""Number of measurements of the cost of a move in each condition, and length of each, in seconds."""
PLAYING_BOT_COUNT_PER_STORE = 100
"""Number of bots that play while the cost of a move on a store is measured."""
MIN_CONNECTIONS_WITH_CONSTANT_MOVE_COST = 100
"""Number of connections above which further connections must not raise the cost of a move by more than MAX_CPU_RATIO."""
MAX_CPU_RATIO, MAX_START_SECONDS = 1.3, 2.0
"""Promised upper bounds of two ratios of the server's CPU time per move, and of the start-up time with the largest store.

The first ratio is the CPU time per move with more than 100 connections, divided by the CPU time per move with 100. The second
ratio is the CPU time per move on a store of any size, divided by the CPU time per move on the smallest store.
"""


@dataclass(frozen=True)
class MoveCostWithIdleConnections:
    """Cost of a move with `connection_count` connections, of which all but PLAYING_BOT_COUNT_AMONG_IDLE are idle."""

    connection_count: int
    cpu_us_by_round: Sequence[float]
    """CPU time of the server per move, in µs, for each round."""
    median_moves_per_second: float
    """Moves per second of all bots, median of the rounds."""


@dataclass(frozen=True)
class MoveCostWithStore:
    """Cost of a move, and start-up times, on a store with `match_count` finished matches."""

    store_kind: str
    match_count: int
    cpu_us_by_round: Sequence[float]
    """CPU time of the server per move, in µs, for each round."""
    start_seconds: float
    """Seconds from the start of the server until it listens."""
    recovery_seconds: float
    """Seconds from the start of the server until it listens, after it was killed with matches in progress."""


def measure_move_costs_with_idle_connections() -> Iterator[MoveCostWithIdleConnections]:
    """Yield the cost of a move for each of CONNECTION_COUNTS, measured in ROUND_COUNT rounds."""
    with serve_arena(PLAYING_BOT_COUNT_AMONG_IDLE) as running, ExitStack() as stack:
        idle_count = 0
        for size in CONNECTION_COUNTS:
            missing_count = size - PLAYING_BOT_COUNT_AMONG_IDLE - idle_count
            if missing_count > 0:
                names = f"idle {size}"
                stack.enter_context(
                    run_load_processes(running.url, missing_count, client_kind=IDLE_CLIENT, name_prefix=names)
                ).wait_until_all_connected(missing_count)
                idle_count += missing_count
            with run_load_processes(
                running.url, PLAYING_BOT_COUNT_AMONG_IDLE, client_kind=ARENA_CLIENT
            ) as load:
                cpu, rates = measure_cpu_and_move_rate_by_round(running, load, PLAYING_BOT_COUNT_AMONG_IDLE)
            yield MoveCostWithIdleConnections(size, cpu, statistics.median(rates))


def measure_cpu_and_move_rate_by_round(
    server: RunningServer, load: LoadProcesses, player_count: int
) -> tuple[list[float], list[float]]:
    """Wait until `player_count` bots have connected, and measure ROUND_COUNT rounds.

    Return two lists with a figure for each round: the CPU time per move in µs, and the moves per second.
    """
    load.wait_until_all_connected(player_count)
    time.sleep(WARM_UP_SECONDS)
    figures = [measure_moves_and_cpu(server, load, ROUND_SECONDS) for _ in range(ROUND_COUNT)]
    return [figure.cpu_us_per_move for figure in figures], [figure.moves_per_second for figure in figures]


def measure_move_cost_with_store(store_kind: str, match_count: int) -> MoveCostWithStore:
    """Fill a store (`sqlite` or `postgresql`) with `match_count` matches, let bots play, then kill and restart its server."""
    with create_database(store_kind) as database_url:
        asyncio.run(create_filled_store(database_url, match_count))
        with (
            _run_server_and_time_start(database_url) as (running, start),
            run_load_processes(running.url, PLAYING_BOT_COUNT_PER_STORE, client_kind=ARENA_CLIENT) as load,
        ):
            cpu = measure_cpu_and_move_rate_by_round(running, load, PLAYING_BOT_COUNT_PER_STORE)[0]
            running.process.kill()
            running.process.wait()
        with _run_server_and_time_start(database_url) as (_, recovery):
            return MoveCostWithStore(store_kind, match_count, cpu, start, recovery)


@contextmanager
def _run_server_and_time_start(database_url: str) -> Iterator[tuple[RunningServer, float]]:
    start_time = time.perf_counter()
    with serve_arena(PLAYING_BOT_COUNT_PER_STORE, database_url) as running:
        yield running, time.perf_counter() - start_time


def format_figures_by_name(
    idle_costs: Sequence[MoveCostWithIdleConnections], store_costs: Sequence[MoveCostWithStore]
) -> dict[str, str]:
    """Return the texts to write into SERVER.md, by the name of their placeholder."""
    idle_rows = [
        [
            f"{cost.connection_count:,}",
            format_spread(cost.cpu_us_by_round),
            f"{cost.median_moves_per_second:,.0f}",
        ]
        for cost in idle_costs
    ]
    store_rows = [
        [
            *(
                STORE_KIND_TITLES[cost.store_kind],
                f"{cost.match_count:,}",
                format_spread(cost.cpu_us_by_round),
            ),
            *(f"{cost.start_seconds:.1f}", f"{cost.recovery_seconds:.1f}"),
        ]
        for cost in store_costs
    ]
    store_head = ["store", "finished matches", "CPU of a move", "start", "after a kill"]
    figures = {
        "growth.connections": format_markdown_table(["connections", "CPU of a move", "moves/s"], idle_rows),
        "growth.stores": format_markdown_table(store_head, store_rows),
    }
    grown_costs = [
        cost for cost in idle_costs if cost.connection_count >= MIN_CONNECTIONS_WITH_CONSTANT_MOVE_COST
    ]
    ratios = {
        cost.connection_count: statistics.median(cost.cpu_us_by_round)
        / statistics.median(grown_costs[0].cpu_us_by_round)
        for cost in grown_costs
    }
    worst_count = max(ratios, key=lambda count: ratios[count])
    text = f"at most {ratios[worst_count]:.2f} ×, with {worst_count:,} connections"
    figures["growth.ratio connections"] = format_verdict(
        text, is_bound_kept=ratios[worst_count] <= MAX_CPU_RATIO
    )
    for store in dict.fromkeys(cost.store_kind for cost in store_costs):
        costs = [cost for cost in store_costs if cost.store_kind == store]
        ratio = max(statistics.median(cost.cpu_us_by_round) for cost in costs) / statistics.median(
            costs[0].cpu_us_by_round
        )
        figures[f"growth.ratio {store}"] = format_verdict(
            f"at most {ratio:.2f} ×", is_bound_kept=ratio <= MAX_CPU_RATIO
        )
    largest = max(cost.match_count for cost in store_costs)
    longest_start_seconds = max(
        max(cost.start_seconds, cost.recovery_seconds) for cost in store_costs if cost.match_count == largest
    )
    figures["growth.start"] = format_verdict(
        f"at most {longest_start_seconds:.1f} s", is_bound_kept=longest_start_seconds < MAX_START_SECONDS
    )
    return figures


def main() -> None:
    """Measure all costs, and print the figures. With `--write`, also write them to SERVER.md."""
    parser = SERVER_PAGE.make_parser(__doc__)
    arguments = SERVER_PAGE.parse_arguments(parser)
    raise_open_file_limit()
    get_conditions, beside = start_recording_conditions(), []
    for cost_beside_idle in measure_move_costs_with_idle_connections():
        print(cost_beside_idle, flush=True)
        beside.append(cost_beside_idle)
    stores = []
    for store in STORE_KIND_TITLES:
        for count in STORED_MATCH_COUNTS:
            stores.append(measure_move_cost_with_store(store, count))
            print(stores[-1], flush=True)
    SERVER_PAGE.publish(
        "growth", format_figures_by_name(beside, stores), get_conditions, should_write=arguments.write
    )


if __name__ == "__main__":
    main()
