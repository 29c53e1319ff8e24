"""Servers of one arena that die again and again under play: what it costs the bots, which may be nothing.

    python -m benchmarks.cluster_kill                         100 deaths of three servers with 60 bots
    python -m benchmarks.cluster_kill --rounds 5 --seed 7 --kinds kill,freeze
    python -m benchmarks.cluster_kill --write                 and put it into benchmarks/CLUSTER.md

Real `arena serve` processes on a real PostgreSQL and a real NATS, each behind lines of its own that can be cut; the
bots come back by PROTOCOL.md. `testkit/deaths.py` tells of the deaths. At the end the store is held against what the
bots were told. Exit code 1 when anything was lost.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.kit.results import claim, measured_on, write_cluster
from testkit import forked
from testkit.arena_servers import arena_servers
from testkit.deaths import KINDS, Death, Report, players_of, rounds
from testkit.nats_server import NatsServer, running_nats
from testkit.parts import missing, postgresql_folder
from tests.server.databases import Postgresql, running_postgresql

WHAT = {
    "kill": "killed with -9",
    "freeze": "stood still (SIGSTOP) for longer than its lease",
    "bus": "cut off from NATS",
    "store": "cut off from PostgreSQL",
    "power": "gone without PostgreSQL or NATS being told",
    "split": "cut off from both, its bots still there",
}
SERVE = (
    "--game",
    "tictactoe",
    "--tc",
    "60+1",
    "--set=pool.pause_seconds=0",
    "--set=pool.openings=none",
    "--set=matches.grace_seconds=30",
)
GOAL_SECONDS = 5.0


async def measure(
    given: argparse.Namespace, folder: Path, url: str, postgresql: Postgresql, nats: NatsServer
) -> Report:
    """Let the servers die. url: an empty database."""
    options = (*SERVE, f"--set=pool.concurrency={given.bots // 2}", "--set=log.verbose=true")
    database = urlsplit(url).path[1:]
    async with arena_servers(given.servers, folder, nats, postgresql.folder, database, *options) as servers:
        players = players_of(servers, given.bots, lambda: random.uniform(0.1, given.think))
        dice = random.Random(given.seed)
        return await rounds(
            servers,
            players,
            url,
            dice,
            given.rounds,
            kinds=given.kinds,
            tell=lambda line: print(line, flush=True),
            longest=60 * given.minutes,
        )


def percentile(values: Sequence[float], share: float) -> float:
    """Of the values in their order, the one at this share; nan where there is none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def took(deaths: Sequence[Death]) -> list[float]:
    """The take-overs that came to an end, of deaths with matches in progress."""
    return [each.taken for each in deaths if each.matches and each.taken is not None]


def section(report: Report, given: argparse.Namespace, note: str) -> str:
    """What came of it, for people."""
    outcome = report.outcome
    lines = [
        "## Deaths under play",
        "",
        f"{note} {given.servers} servers, {given.bots} bots that think up to {given.think:g} s for a move, seed {given.seed}; all on one machine.",
        "*Taken over*: from the death until every match in progress there was another server's, or over, as the store has it.",
        "*Told on*: from the death until one of a match's bots was told of the match again; the bots notice a silent server by their own pings, after 2 to 4 s.",
        "",
        "| the server | times | matches in progress | taken over p50 s | p99 s | most s | told on p50 s | p99 s |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for kind in [each for each in KINDS if each in given.kinds]:
        of_kind = [each for each in report.deaths if each.kind == kind]
        taken = took(of_kind)
        told = [seconds for each in of_kind for seconds in each.played_on]
        lines.append(
            f"| {WHAT[kind]} | {len(of_kind)} | {sum(each.matches for each in of_kind)} "
            f"| {percentile(taken, 0.5):.2f} | {percentile(taken, 0.99):.2f} | {max(taken, default=float('nan')):.2f} "
            f"| {percentile(told, 0.5):.2f} | {percentile(told, 0.99):.2f} |"
        )
    endings = ", ".join(f"{reason} {count}" for reason, count in sorted(outcome.reasons.items()))
    found = f"{len(outcome.faults)} faults in {outcome.matches:,} matches with {outcome.acknowledged:,} acknowledged moves ({endings})"
    late = [each for each in report.deaths if each.taken is None]
    quickness = (
        f"p50 {percentile(took(report.deaths), 0.5):.2f} s, p99 {percentile(took(report.deaths), 0.99):.2f} s"
    )
    return "\n".join(
        [
            *lines,
            "",
            claim(
                f"{len(report.deaths)} deaths of servers under play",
                "no acknowledged move lost, no match doubled, no wrong forfeit",
                found,
            ),
            "",
            claim(
                "a dead server's matches are taken over",
                f"p99 under {GOAL_SECONDS:g} s",
                quickness + (f"; {len(late)} not at all" if late else ""),
            ),
        ]
    )


def main() -> int:
    """Measure, and say what was lost: 0 when nothing was."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--bots", type=int, default=60)
    parser.add_argument(
        "--think", type=float, default=1.0, help="seconds that a bot takes for a move at the most"
    )
    parser.add_argument("--minutes", type=float, default=math.inf, help="after so many no other death begins")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--kinds", type=lambda words: words.split(","), default=list(KINDS), help="of the deaths, with commas"
    )
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/CLUSTER.md")
    given = parser.parse_args()
    if unknown := sorted(set(given.kinds) - set(KINDS)):
        parser.error(f"there is no death {unknown[0]!r}; there are {', '.join(KINDS)}")
    if why := missing("nats"):
        parser.error(why)
    forked.prepare()
    command = (
        f"python -m benchmarks.cluster_kill --rounds {given.rounds} --bots {given.bots} --seed {given.seed}"
    )
    binaries = postgresql_folder()
    if binaries is None:
        parser.error(str(missing("postgresql")))
    with (
        tempfile.TemporaryDirectory(prefix="arena-deaths-") as folder,
        running_postgresql(binaries) as postgresql,
        running_nats() as nats,
        measured_on(command) as note,
    ):
        url = postgresql.new_database()
        report = asyncio.run(measure(given, Path(folder), url, postgresql, nats))
    text = section(report, given, note())
    print(text)
    for fault in report.outcome.faults[:20]:
        print(f"FAULT: {fault}")
    if given.write:
        write_cluster("deaths", text)
    late = [each for each in report.deaths if each.taken is None]
    return 1 if report.outcome.faults or late else 0


if __name__ == "__main__":
    sys.exit(main())
