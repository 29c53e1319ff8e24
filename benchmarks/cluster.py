"""Cost of a move in a cluster, by number of edges. Edges hold the connections, and a core plays the matches.

    python -m benchmarks.cluster [--write]

Each round measures all configurations one after another, at the same rate of moves. The measurements are the CPU time per
move of the edges and the core, of PostgreSQL and of NATS, minus the CPU time of each while the same bots are connected and
idle, and the time from sending a move to its acknowledgement. Ratios are computed within a round, and the table shows their
medians. `--write` writes the figures to benchmarks/CLUSTER.md.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.kit.load import LoadCounters, measure_moves_per_second, run_arena_bot, run_bots
from benchmarks.kit.measure import compute_quantile, format_markdown_table, format_spread
from benchmarks.kit.results import CLUSTER_PAGE, format_verdict, start_recording_conditions
from benchmarks.kit.running_server import SCRIPTED_MATCH_OPTIONS, read_process_cpu_seconds
from testkit import forked
from testkit.cluster import run_cluster
from testkit.nats_server import NatsServer, run_nats
from testkit.server_process import ServerProcess
from testkit.tools import find_missing_tool_reason, find_postgresql_folder
from tests.server.databases import Postgresql, running_postgresql

ROUND_COUNT = 3
"""Number of measurements of each configuration (number of edge processes)."""
IDLE_MEASUREMENT_SECONDS = 3.0
"""Length of the measurement while all bots are connected and idle, in seconds."""
PLAY_MEASUREMENT_SECONDS = 10.0
"""Length of the measurement while all bots play, in seconds."""
WARM_UP_SECONDS = 3.0
"""Seconds for which the bots play before the measurement begins."""
BOT_COUNT, MOVES_PER_SECOND = 40, 150.0
"""Number of bots, which play each other, and their moves per second, all bots together."""
ARENA_SERVE_OPTIONS = (
    *SCRIPTED_MATCH_OPTIONS,
    "--set=limits.work_ms_per_second=100000",
    "--set=limits.messages_per_second=1000",
    "--set=limits.moves_per_second=100000",
    "--set=pool.concurrency=1000",
)
SINGLE_PROCESS_TITLE = "one process"
MAX_CPU_RATIO_TO_SINGLE_PROCESS = 2.0
"""Promised upper bound of a ratio: CPU time per move of a core and 4 edges, divided by the CPU time of a server in one
process.
"""
EDGE_COUNT_BY_CONFIGURATION = {
    SINGLE_PROCESS_TITLE: 0,
    "a core and 1 edge": 1,
    "a core and 2 edges": 2,
    "a core and 4 edges": 4,
}
"""Number of edges (processes that hold the connections), by name of the configuration; 0 for a server in one process."""


CostByColumn = dict[str, float]
"""Measurements of one configuration in one round, by column of the table.

The CPU time per move excludes the CPU time that is used while all bots are idle. The column `idle, ms of CPU a second`
shows the idle CPU time of the core and the edges together.
"""


def read_cpu_seconds_by_part(
    members: Sequence[ServerProcess], postgresql: Postgresql, nats: NatsServer
) -> list[float]:
    """Return the CPU seconds that four parts of the arena have used so far.

    The parts are, in this order: the core, which plays the matches (or the single process); all edges together, which hold
    the connections; PostgreSQL; and NATS.
    """
    return [
        sum(read_process_cpu_seconds(member.pid) for member in members if member.role != "edge"),
        sum(read_process_cpu_seconds(member.pid) for member in members if member.role == "edge"),
        sum(read_process_cpu_seconds(process) for process in postgresql.processes),
        read_process_cpu_seconds(nats.pid),
    ]


async def measure_cost_in_round(
    edge_count: int, database_name: str, postgresql: Postgresql, nats: NatsServer
) -> CostByColumn:
    """Run one core (plays the matches) and some edges (hold the connections), and return a move's CPU time and other costs.

    edge_count: number of edges; 0 to run a single process instead
    database_name: name of an empty database of `postgresql`

    Raises RuntimeError if a bot forfeits a match.
    """
    load = LoadCounters()
    pause_seconds = BOT_COUNT / 2 / MOVES_PER_SECOND  # one of two bots is to move
    with tempfile.TemporaryDirectory(prefix="arena-cluster-") as folder:
        core_count = 1 if edge_count else 0
        async with run_cluster(
            edge_count,
            core_count,
            Path(folder),
            nats,
            postgresql.folder,
            database_name,
            *ARENA_SERVE_OPTIONS,
            uses_forwarders=False,
        ) as cluster:
            if not edge_count:
                await (await cluster.add_server("all")).wait_until_ready()
            members = cluster.members
            entrance_urls = [member.url for member in members if member.role != "core"]

            def make_bots(prefix: str, *, joins_pool: bool) -> list[Coroutine[Any, Any, None]]:
                return [
                    run_arena_bot(
                        entrance_urls[number % len(entrance_urls)],
                        f"{prefix} {number}",
                        load,
                        pause_seconds,
                        joins_pool=joins_pool,
                    )
                    for number in range(BOT_COUNT)
                ]

            async with run_bots(load, make_bots("idle", joins_pool=False)):
                await asyncio.sleep(1)
                cpu_before = read_cpu_seconds_by_part(members, postgresql, nats)
                await asyncio.sleep(IDLE_MEASUREMENT_SECONDS)
                cpu_after = read_cpu_seconds_by_part(members, postgresql, nats)
                idle_cpu = [b - a for a, b in zip(cpu_before, cpu_after, strict=True)]
                async with run_bots(load, make_bots("bot", joins_pool=True)):
                    await asyncio.sleep(WARM_UP_SECONDS)
                    load.latencies_seconds.clear()
                    cpu_before, moves = read_cpu_seconds_by_part(members, postgresql, nats), load.move_count
                    rate = await measure_moves_per_second(load, PLAY_MEASUREMENT_SECONDS)
                    cpu_after = read_cpu_seconds_by_part(members, postgresql, nats)
                    moves, seconds = load.move_count - moves, list(load.latencies_seconds)
    if load.forfeit_reasons:
        raise RuntimeError(
            f"with {edge_count} edges, {len(load.forfeit_reasons)} matches were forfeited, the first for the reason {load.forfeit_reasons[0]}; no match may be forfeited"
        )
    idle_periods = PLAY_MEASUREMENT_SECONDS / IDLE_MEASUREMENT_SECONDS
    core_us, edges_us, postgresql_us, nats_us = [
        1e6 * (b - a - idle_seconds * idle_periods) / moves
        for a, b, idle_seconds in zip(cpu_before, cpu_after, idle_cpu, strict=True)
    ]
    return {
        "moves/s": rate,
        "core µs": core_us,
        "edges µs": edges_us,
        "PostgreSQL µs": postgresql_us,
        "NATS µs": nats_us,
        "p50 ms": 1000 * compute_quantile(seconds, 0.5),
        "p99 ms": 1000 * compute_quantile(seconds, 0.99),
        "idle, ms of CPU a second": 1000 * (idle_cpu[0] + idle_cpu[1]) / IDLE_MEASUREMENT_SECONDS,
    }


def format_figures_by_name(costs: dict[str, list[CostByColumn]]) -> dict[str, str]:
    """Return the texts to write into CLUSTER.md, by the name of their placeholder.

    costs: measurements of all rounds, by configuration
    """
    rows, server_us = [], {}
    for configuration, rounds in costs.items():
        medians = {name: statistics.median(cost[name] for cost in rounds) for name in rounds[0]}
        rows.append(
            [configuration, *(f"{value:.{int(name.endswith(' ms'))}f}" for name, value in medians.items())]
        )
        server_us[configuration] = [cost["core µs"] + cost["edges µs"] for cost in rounds]
    *_, last = costs
    ratios = [
        us / single_us for us, single_us in zip(server_us[last], server_us[SINGLE_PROCESS_TITLE], strict=True)
    ]
    is_kept = statistics.median(ratios) <= MAX_CPU_RATIO_TO_SINGLE_PROCESS
    return {
        "cost.table": format_markdown_table(["", *rounds[0]], rows),
        "cost.ratio": format_verdict(f"{format_spread(ratios, 2)} ×", is_bound_kept=is_kept),
    }


def main() -> None:
    """Measure all configurations, and print the figures. With `--write`, also write them to CLUSTER.md."""
    parser = CLUSTER_PAGE.make_parser(__doc__)
    arguments = CLUSTER_PAGE.parse_arguments(parser)
    binaries = find_postgresql_folder()
    if binaries is None or find_missing_tool_reason("nats"):
        parser.error(str(find_missing_tool_reason("postgresql") or find_missing_tool_reason("nats")))
    forked.start_fork_server()
    costs: dict[str, list[CostByColumn]] = {
        configuration: [] for configuration in EDGE_COUNT_BY_CONFIGURATION
    }
    get_conditions = start_recording_conditions()
    with running_postgresql(binaries) as postgresql, run_nats() as nats:
        for number in range(ROUND_COUNT):
            for configuration, edges in EDGE_COUNT_BY_CONFIGURATION.items():
                database_name = urlsplit(postgresql.new_database()).path[1:]
                cost = asyncio.run(measure_cost_in_round(edges, database_name, postgresql, nats))
                costs[configuration].append(cost)
                print(f"{number + 1}: {configuration}: {cost}", flush=True)
    CLUSTER_PAGE.publish("cost", format_figures_by_name(costs), get_conditions, should_write=arguments.write)


if __name__ == "__main__":
    main()
