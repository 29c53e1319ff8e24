"""Repeated failures in a cluster during play, and their cost for the bots, which must lose no move and no result.

    python -m benchmarks.cluster_kill                        100 failures, with 40 bots
    python -m benchmarks.cluster_kill --rounds 5 --seed 7 --kinds "core kill,edge freeze"
    python -m benchmarks.cluster_kill --write                write the figures to benchmarks/CLUSTER.md

Real `arena serve` processes use a real PostgreSQL and a real NATS, each over connections that can be cut. The failures,
which `testkit/cluster_faults.py` describes, hit edges (processes that hold the connections), cores (processes that play the
matches), NATS and PostgreSQL. The bots play Riskless on italy, and reconnect as PROTOCOL.md requires. At the end, the store
is compared with the messages that the bots received. The exit code is 1 if anything was lost.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.kit.measure import compute_quantile, format_markdown_table
from benchmarks.kit.results import CLUSTER_PAGE, format_verdict, print_faults, start_recording_conditions
from testkit import forked
from testkit.cluster import run_cluster
from testkit.cluster_faults import (
    CORE_FAULT_KINDS,
    FAULT_KINDS,
    FaultInjector,
    FaultReport,
    inject_faults,
    make_cluster_players,
)
from testkit.nats_server import NatsServer, run_nats
from testkit.tools import find_missing_tool_reason, find_postgresql_folder
from tests.server.databases import Postgresql, running_postgresql

ARENA_SERVE_OPTIONS = (
    *("--game", "riskless", "--map", "italy", "--tc", "60+1", "--set=pool.pause_seconds=0"),
    *("--set=pool.concurrency=1000", "--set=log.verbose=true"),
)
EDGE_COUNT, CORE_COUNT = 2, 2
"""Number of edges (hold the connections) and of cores (can play the matches: one plays, the other waits to replace it)."""
INJECTED_FAILURE_COUNT = 100
"""Default number of failures. CLUSTER.md promises that a run with this number of failures loses no move and no result."""
MAX_P99_RECOVERY_SECONDS = 3.0
"""Promised limit, in seconds: after a core process fails, 99 % of its matches continue within this time."""


async def inject_failures(
    arguments: argparse.Namespace, folder: Path, database_url: str, postgresql: Postgresql, nats: NatsServer
) -> FaultReport:
    """Run a cluster and its bots, inject all failures, and return the report.

    arguments: command line of this benchmark; folder: folder of the logs; database_url: URL of an empty database
    """
    rng = random.Random(arguments.seed)
    kinds = [arguments.kinds[number % len(arguments.kinds)] for number in range(arguments.rounds)]
    rng.shuffle(kinds)
    database = urlsplit(database_url).path[1:]
    async with run_cluster(
        EDGE_COUNT, CORE_COUNT, folder, nats, postgresql.folder, database, *ARENA_SERVE_OPTIONS
    ) as cluster:
        players = make_cluster_players(cluster.edges, arguments.bots, lambda: random.uniform(0.1, 1.0))
        injector = FaultInjector(cluster, nats, lambda: postgresql.processes, rng)
        return await inject_faults(injector, players, kinds, report_line=lambda line: print(line, flush=True))


def list_recovery_seconds(report: FaultReport, failure_kinds: Sequence[str]) -> list[float]:
    """Return the recovery times of matches, in seconds, for the failures of these kinds.

    Each match that continued after a failure has one recovery time: from the failure until one of the match's bots received
    a message about the match, or until the match was over.
    """
    return [
        seconds
        for fault in report.injected_faults
        if fault.kind in failure_kinds
        for seconds in fault.recovery_seconds
    ]


def format_figures_by_name(report: FaultReport, failure_kinds: Sequence[str]) -> dict[str, str]:
    """Return the texts to write into CLUSTER.md, by the name of their placeholder.

    failure_kinds: kinds of failure in the order of the table
    """
    result, rows = report.crash_test_result, []
    for kind in failure_kinds:
        faults_of_kind = [fault for fault in report.injected_faults if fault.kind == kind]
        seconds = list_recovery_seconds(report, [kind])
        stuck = sum(fault.stuck_match_count for fault in faults_of_kind)
        quantiles = [f"{compute_quantile(seconds, share):.2f}" for share in (0.5, 0.99, 1)]
        rows.append([kind, len(faults_of_kind), len(seconds) + stuck, *quantiles, stuck])
    headings = ["failure", "times", "matches in progress", "continues p50 s", "p99 s", "maximum s", "never"]
    end_reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(result.end_reasons.items()))
    effect = f"{len(result.faults)} faults in {result.match_count:,} matches with {result.acknowledged_move_count:,} acknowledged moves (end reasons: {end_reasons})"
    core_seconds = list_recovery_seconds(report, CORE_FAULT_KINDS)
    p50, p99 = compute_quantile(core_seconds, 0.5), compute_quantile(core_seconds, 0.99)
    return {
        "failures.table": format_markdown_table(headings, rows),
        "failures.effect": format_verdict(effect, is_bound_kept=not result.faults),
        "failures.recovery": format_verdict(
            f"p50 {p50:.2f} s, p99 {p99:.2f} s", is_bound_kept=p99 <= MAX_P99_RECOVERY_SECONDS
        ),
    }


def main() -> int:
    """Inject the failures, and print the figures and all losses. With `--write`, also write the figures to CLUSTER.md.

    Return the exit code: 1 if anything was lost or a match got stuck.
    """
    parser = CLUSTER_PAGE.make_parser(__doc__)
    parser.add_argument(
        "--rounds",
        type=int,
        default=INJECTED_FAILURE_COUNT,
        help="number of failures, each injected into one process; default: %(default)s",
    )
    parser.add_argument(
        "--bots", type=int, default=40, help="number of bots, which play each other; default: %(default)s"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="seed that determines the failures and their targets (default 1)"
    )
    parser.add_argument(
        "--kinds",
        type=lambda words: words.split(","),
        default=list(FAULT_KINDS),
        help=f"kinds of failure to choose from, separated by commas; default: {','.join(FAULT_KINDS)}",
    )
    arguments = CLUSTER_PAGE.parse_arguments(parser)
    if unknown := sorted(set(arguments.kinds) - set(FAULT_KINDS)):
        parser.error(f"there is no failure {unknown[0]!r}; there are {', '.join(FAULT_KINDS)}")
    binaries = find_postgresql_folder()
    if binaries is None or find_missing_tool_reason("nats"):
        parser.error(str(find_missing_tool_reason("postgresql") or find_missing_tool_reason("nats")))
    forked.start_fork_server()
    get_conditions = start_recording_conditions()
    with (
        tempfile.TemporaryDirectory(prefix="arena-failures-") as folder,
        running_postgresql(binaries) as postgresql,
        run_nats() as nats,
    ):
        url = postgresql.new_database()
        report = asyncio.run(inject_failures(arguments, Path(folder), url, postgresql, nats))
    CLUSTER_PAGE.publish(
        "failures",
        format_figures_by_name(report, arguments.kinds),
        get_conditions,
        should_write=arguments.write,
    )
    stuck = [
        f"{fault.stuck_match_count} matches stopped after {fault.kind}"
        for fault in report.injected_faults
        if fault.stuck_match_count
    ]
    return print_faults([*report.crash_test_result.faults, *stuck])


if __name__ == "__main__":
    sys.exit(main())
