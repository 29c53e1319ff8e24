"""Cost of a move in a cluster, by number of edges.

    python -m benchmarks.cluster [--seconds 10] [--rounds 3] [--bots 40] [--rate 150] [--write]

Each round measures all configurations one after another, at the same rate of moves. It measures the CPU time per move
of the edges and the core, of PostgreSQL and of NATS, minus the CPU time of each while the same bots are connected and
idle. It also measures the time from a bot's sending of a move to its acknowledgement. Ratios are computed within a
round, and the report shows their medians. `--write` writes the section of benchmarks/CLUSTER.md.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.kit.load import Load, all_in, arena_bot, measured
from benchmarks.kit.results import CLUSTER, claim, measured_on
from benchmarks.kit.script import MAP
from benchmarks.kit.served import ON_SCRIPT, cpu_of
from testkit import forked
from testkit.cluster import Member, Role
from testkit.nats_server import NatsServer, running_nats
from testkit.parts import missing, postgresql_folder
from tests.server.databases import Postgresql, running_postgresql

IDLE_SECONDS = 3.0
WARM_SECONDS = 3.0
SERVE = (
    *ON_SCRIPT,
    "--set=limits.work_ms_per_second=100000",
    "--set=limits.messages_per_second=1000",
    "--set=limits.moves_per_second=100000",
    "--set=pool.concurrency=1000",
)
ALONE = "one process"
MOST = 2.0
CONDITIONS = {ALONE: 0, "a core and 1 edge": 1, "a core and 2 edges": 2, "a core and 4 edges": 4}
"""Number of edges of each configuration; 0 for a single process."""


@dataclass(frozen=True)
class Cost:
    """Measurements of one configuration in one round; CPU in µs per move."""

    core: float
    edges: float
    postgresql: float
    nats: float
    idle: float
    """CPU time of the core and the edges while the bots are connected and idle, in ms per second."""
    rate: float
    p50: float
    p99: float
    """Times from sending a move to its acknowledgement, in ms."""

    @property
    def server(self) -> float:
        """CPU time of the core and the edges together."""
        return self.core + self.edges


def used(members: Sequence[Member], postgresql: Postgresql, nats: NatsServer) -> list[float]:
    """Return the CPU time so far, in seconds, of the core (or the single process), the edges, PostgreSQL and NATS."""
    return [
        sum(cpu_of(each.pid) for each in members if each.role != "edge"),
        sum(cpu_of(each.pid) for each in members if each.role == "edge"),
        sum(cpu_of(each) for each in postgresql.processes),
        cpu_of(nats.pid),
    ]


@asynccontextmanager
async def running(edges: int, folder: Path, url: str, nats: NatsServer) -> AsyncIterator[list[Member]]:
    """Run the processes of a configuration."""
    roles: list[Role] = ["core", *["edge"] * edges] if edges else ["all"]  # type: ignore[list-item]
    bus = (f"--set=bus.url={nats.url}",) if edges else ()
    made: list[Member] = []
    try:
        for number, role in enumerate(roles):
            member = Member(role, f"{role}-{number}", folder / f"{number}.log", (*bus, "--db", url, *SERVE))
            made.append(member)
            member.start()
            await member.wait_ready()
        yield made
    finally:
        for each in made:
            await asyncio.to_thread(each.close)


async def measure(
    edges: int, arguments: argparse.Namespace, url: str, postgresql: Postgresql, nats: NatsServer
) -> Cost:
    """Measure a configuration once."""
    load = Load()
    pause = float(arguments.bots / 2 / arguments.rate)  # one bot of two is to move
    with tempfile.TemporaryDirectory(prefix="arena-cluster-") as folder:
        async with running(edges, Path(folder), url, nats) as members, asyncio.TaskGroup() as tasks:
            entrances = [each.url for each in members if each.role != "core"]

            def come(what: str, *, pool: bool) -> None:
                for each in range(arguments.bots):
                    at = entrances[each % len(entrances)]
                    jobs.append(tasks.create_task(arena_bot(at, f"{what} {each}", load, pause, pool=pool)))

            jobs: list[asyncio.Task[None]] = []
            come("idle", pool=False)
            await all_in(load, arguments.bots)
            await asyncio.sleep(1)
            before = used(members, postgresql, nats)
            await asyncio.sleep(IDLE_SECONDS)
            idle = [b - a for a, b in zip(before, used(members, postgresql, nats), strict=True)]
            come("bot", pool=True)
            await all_in(load, 2 * arguments.bots)
            await asyncio.sleep(WARM_SECONDS)
            load.seconds.clear()
            before, moves = used(members, postgresql, nats), load.moves
            rate = await measured(load, 0, arguments.seconds)
            after = used(members, postgresql, nats)
            moves, seconds = load.moves - moves, sorted(load.seconds)
            for job in jobs:
                job.cancel()
    if load.forfeits:
        raise RuntimeError(f"{edges} edges: {len(load.forfeits)} matches ended as {load.forfeits[0]}")
    share = arguments.seconds / IDLE_SECONDS
    core, of_edges, of_postgresql, of_nats = [
        1e6 * (b - a - rest * share) / moves for a, b, rest in zip(before, after, idle, strict=True)
    ]
    return Cost(
        core,
        of_edges,
        of_postgresql,
        of_nats,
        1000 * (idle[0] + idle[1]) / IDLE_SECONDS,
        rate,
        1000 * seconds[len(seconds) // 2],
        1000 * seconds[int(0.99 * len(seconds))],
    )


def median(costs: Sequence[Cost], of: str) -> float:
    """Return the median of a figure over the rounds."""
    return float(statistics.median(getattr(each, of) for each in costs))


def section(costs: dict[str, list[Cost]], arguments: argparse.Namespace, note: str) -> str:
    """Return the section of the report."""
    columns = ("rate", "core", "edges", "postgresql", "nats", "p50", "p99", "idle")
    lines = [
        "## What a move costs",
        "",
        f"{note}",
        "",
        f"- *Machine*: The servers, PostgreSQL (`fsync = off`: a commit does not wait for the disk), NATS and {arguments.bots} bots share {os.cpu_count()} cores.",
        f"- *Load*: The bots play {arguments.rate:g} moves a second, always the same match on `{MAP}`. Figures are medians of {arguments.rounds} rounds of {arguments.seconds:g} s.",
        "- *CPU* (the columns in µs) is the user and kernel time per move, minus the time that the same processes use with the same number of idle bots.",
        "- *Idle* is the CPU time that was subtracted, for the core and the edges together.",
        "",
        "| | moves/s | core µs | edges µs | PostgreSQL µs | NATS µs | p50 ms | p99 ms | idle, ms of CPU a second |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for what, cost in costs.items():
        cells = (f"{median(cost, of):.{1 if of in ('p50', 'p99') else 0}f}" for of in columns)
        lines.append(f"| {what} | {' | '.join(cells)} |")
    *_, last = costs
    ratios = [each.server / alone.server for each, alone in zip(costs[last], costs[ALONE], strict=True)]
    found_ratio = f"{statistics.median(ratios):.2f} × ({min(ratios):.2f} to {max(ratios):.2f})"
    lines += [
        "",
        claim(
            f"CPU time of edges and core per move, {last}",
            f"at most {MOST:g} × that of one process",
            found_ratio,
        ),
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write the section if requested."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bots", type=int, default=40)
    parser.add_argument("--rate", type=float, default=150.0, help="moves a second, of all bots together")
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/CLUSTER.md")
    arguments = parser.parse_args()
    binaries = postgresql_folder()
    if binaries is None or missing("nats"):
        parser.error(str(missing("postgresql") or missing("nats")))
    forked.prepare()
    costs: dict[str, list[Cost]] = {what: [] for what in CONDITIONS}
    command = f"python -m benchmarks.cluster --seconds {arguments.seconds:g} --rounds {arguments.rounds}"
    with (
        running_postgresql(binaries) as postgresql,
        running_nats() as nats,
        measured_on(command) as note,
    ):
        for number in range(arguments.rounds):
            for what, edges in CONDITIONS.items():
                url = postgresql.new_database()
                cost = asyncio.run(measure(edges, arguments, url, postgresql, nats))
                costs[what].append(cost)
                print(f"{number + 1}: {what}: {cost}", flush=True)
    text = section(costs, arguments, note())
    print(text)
    if arguments.write:
        CLUSTER.write("cost", text)


if __name__ == "__main__":
    main()
