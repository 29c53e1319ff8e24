"""What a move costs in an arena of many servers: where its bots and its room stand, and by how many servers there are.

    python -m benchmarks.cluster [--seconds 10] [--rounds 3] [--bots 40] [--rate 150] [--write]

Each round measures all conditions one after the other, at the same rate of moves: CPU time of the servers' processes, of
PostgreSQL and of NATS, for a move, less what each takes while the same bots are connected and idle; and the time from a
bot's sending a move to its acknowledgement. Ratios are of one round, and the medians of rounds are told. --write puts
it into benchmarks/CLUSTER.md.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks.kit.load import Load, all_in, arena_bot, measured
from benchmarks.kit.results import claim, measured_on, write_cluster
from benchmarks.kit.script import MAP
from benchmarks.kit.served import ON_SCRIPT, cpu_of
from testkit import forked
from testkit.arena_servers import ArenaServer, ended_after, start
from testkit.nats_server import NatsServer, running_nats
from testkit.parts import missing, postgresql_folder
from tests.server.databases import Postgresql, running_postgresql

AGAIN_SECONDS = 0.5
IDLE_SECONDS = 3.0
WARM_SECONDS = 3.0
SERVE = (
    *ON_SCRIPT,
    "--set=limits.work_ms_per_second=100000",
    "--set=limits.messages_per_second=1000",
    "--set=limits.moves_per_second=100000",
)
ROOMS = "SELECT server, count(*) AS rooms FROM matches GROUP BY server"


@dataclass(frozen=True)
class Condition:
    """Where everything stands.

    servers: how many there are
    bus: whether they have one
    homes: for each half of the bots, the numbers of the servers at which they come in, in turn
    paired: whether each bot of the first half plays one of the second and nobody else
    places: how many matches each server says that it may have, which is what the least load is a share of
    """

    what: str
    servers: int
    bus: bool
    homes: tuple[tuple[int, ...], tuple[int, ...]]
    paired: bool = True
    places: tuple[int, ...] = (100, 100, 100, 100)


ALONE = Condition("one server without a bus", 1, False, ((0,), (0,)))
LOCAL = Condition("both bots at the room's server, of three", 3, True, ((0,), (0,)))
REMOTE = Condition("neither bot at the room's server", 3, True, ((0,), (1,)), places=(1, 1, 1000))
POOLS = tuple(
    Condition(
        f"{count} server{'s' if count > 1 else ''}, bots spread over them",
        count,
        True,
        (tuple(range(count)), tuple(range(count))),
        paired=False,
    )
    for count in (1, 2, 4)
)
CONDITIONS = (ALONE, LOCAL, REMOTE, *POOLS)


@dataclass(frozen=True)
class Cost:
    """What was measured of one condition in one round; CPU in µs for a move."""

    servers: float
    postgresql: float
    nats: float
    idle_servers: float
    """Milliseconds of CPU a second of all servers, while the bots were connected and idle."""
    rate: float
    p50: float
    p99: float
    """Milliseconds from a move's sending to its acknowledgement."""
    away: float
    """The share of matches whose room was at neither bot's server."""
    errors: int


@dataclass(frozen=True)
class Used:
    """Seconds of CPU time, so far."""

    servers: float
    postgresql: float
    nats: float

    def since(self, before: Used) -> Used:
        """What was used between."""
        return Used(
            self.servers - before.servers, self.postgresql - before.postgresql, self.nats - before.nats
        )


def used(servers: Sequence[ArenaServer], postgresql: Postgresql, nats: NatsServer) -> Used:
    """What all processes have used."""
    return Used(
        sum(cpu_of(each.pid) for each in servers),
        sum(cpu_of(each) for each in postgresql.processes),
        cpu_of(nats.pid),
    )


@asynccontextmanager
async def running(
    condition: Condition, folder: Path, url: str, nats: NatsServer
) -> AsyncIterator[list[ArenaServer]]:
    """The servers of a condition."""
    bus = (f"--set=bus.url={nats.url}",) if condition.bus else ()
    made = [
        ArenaServer(
            f"s{each}",
            folder / f"s{each}.log",
            (*bus, "--db", url, f"--set=pool.concurrency={condition.places[each]}", *SERVE),
        )
        for each in range(condition.servers)
    ]
    async with ended_after(made):
        await start(made)
        yield made


async def insist(bot: Callable[..., Awaitable[None]], *words: object, **more: object) -> None:
    """Be this bot, and come in again where it was not let in, as by a store that has too much to do at first."""
    while True:
        await bot(*words, **more)
        await asyncio.sleep(AGAIN_SECONDS)


async def measure(
    condition: Condition, given: argparse.Namespace, url: str, postgresql: Postgresql, nats: NatsServer
) -> Cost:
    """One condition, once."""
    load, half = Load(), given.bots // 2
    pause = float(half / given.rate)  # one bot of two is to move
    with tempfile.TemporaryDirectory(prefix="arena-cluster-") as folder:
        async with (
            running(condition, Path(folder), url, nats) as servers,
            asyncio.TaskGroup() as tasks,
        ):
            homes = [
                [servers[numbers[each % len(numbers)]].url for each in range(half)]
                for numbers in condition.homes
            ]
            jobs = [
                tasks.create_task(insist(arena_bot, at, f"idle {side} {each}", load, pool=False))
                for side, urls in enumerate(homes)
                for each, at in enumerate(urls)
            ]
            await all_in(load, 2 * half)
            await asyncio.sleep(1)
            before = used(servers, postgresql, nats)
            await asyncio.sleep(IDLE_SECONDS)
            idle = used(servers, postgresql, nats).since(before)
            for number in range(half):
                first, second = homes[0][number], homes[1][number]
                bots: dict[str, Any] = {"load": load, "pause": pause, "pool": not condition.paired}
                opponent = f"b {number}" if condition.paired else ""
                jobs += [
                    tasks.create_task(insist(arena_bot, second, f"b {number}", **bots)),
                    tasks.create_task(insist(arena_bot, first, f"a {number}", opponent=opponent, **bots)),
                ]
            await all_in(load, 4 * half)
            await asyncio.sleep(WARM_SECONDS)
            load.seconds.clear()
            before, moves = used(servers, postgresql, nats), load.moves
            rate = await measured(load, 0, given.seconds)
            spent, moves = used(servers, postgresql, nats).since(before), load.moves - moves
            seconds = sorted(load.seconds)
            away = await _away(url, condition)
            for job in jobs:
                job.cancel()
    if load.forfeits:
        raise RuntimeError(f"{condition.what}: {len(load.forfeits)} matches ended as {load.forfeits[0]}")

    def each_move(busy: float, asleep: float) -> float:
        return float(1e6 * (busy - asleep * given.seconds / IDLE_SECONDS) / moves)

    return Cost(
        each_move(spent.servers, idle.servers),
        each_move(spent.postgresql, idle.postgresql),
        each_move(spent.nats, idle.nats),
        1000 * idle.servers / IDLE_SECONDS,
        rate,
        1000 * seconds[len(seconds) // 2],
        1000 * seconds[int(0.99 * len(seconds))],
        away,
        len(load.errors),
    )


async def _away(url: str, condition: Condition) -> float:
    """The share of matches with a room where no bot comes in."""
    homes = {f"s{number}" for numbers in condition.homes for number in numbers}
    connection = await asyncpg.connect(url)
    try:
        rooms: dict[str, int] = {row["server"]: row["rooms"] for row in await connection.fetch(ROOMS)}
    finally:
        await connection.close()
    return sum(count for server, count in rooms.items() if server not in homes) / max(1, sum(rooms.values()))


def median(costs: Sequence[Cost], of: str) -> float:
    """Of the rounds."""
    return float(statistics.median(getattr(each, of) for each in costs))


def section(costs: dict[str, list[Cost]], given: argparse.Namespace, note: str) -> str:
    """What was found, for people."""
    lines = [
        "## What a move costs",
        "",
        f"{note} {os.cpu_count()} cores, which servers, PostgreSQL (not waiting for the disk), NATS and the {given.bots} bots share; {given.rate:g} moves a second asked for, of one fixed match on `{MAP}` again and again; medians of {given.rounds} rounds of {given.seconds:g} s.",
        "CPU is user and kernel time for a move, less what the same processes take while as many bots are connected and nobody plays, which the last column tells for all servers together.",
        "",
        "| | moves/s | servers µs | PostgreSQL µs | NATS µs | p50 ms | p99 ms | idle, ms of CPU a second |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for what, found in costs.items():
        lines.append(
            f"| {what} | {median(found, 'rate'):.0f} | {median(found, 'servers'):.0f} | {median(found, 'postgresql'):.0f} "
            f"| {median(found, 'nats'):.0f} | {median(found, 'p50'):.1f} | {median(found, 'p99'):.1f} | {median(found, 'idle_servers'):.0f} |"
        )
    if REMOTE.what in costs:
        lines += [
            "",
            f"With neither bot at the room's server, {median(costs[REMOTE.what], 'away'):.0%} of the rooms were on the third server.",
        ]
    for what, least in ((LOCAL.what, 1.1), (REMOTE.what, 2.5)):
        if what in costs and ALONE.what in costs:
            ratios = [
                here.servers / alone.servers
                for here, alone in zip(costs[what], costs[ALONE.what], strict=True)
            ]
            found_ratio = f"{statistics.median(ratios):.2f} × ({min(ratios):.2f} to {max(ratios):.2f})"
            lines += [
                "",
                claim(
                    f"CPU of all servers for a move, {what}",
                    f"at most {least} × that without a bus",
                    found_ratio,
                ),
            ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write where it is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bots", type=int, default=40)
    parser.add_argument("--rate", type=float, default=150.0, help="moves a second, of all bots together")
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/CLUSTER.md")
    given = parser.parse_args()
    binaries = postgresql_folder()
    if binaries is None or missing("nats"):
        parser.error(str(missing("postgresql") or missing("nats")))
    forked.prepare()
    costs: dict[str, list[Cost]] = {each.what: [] for each in CONDITIONS}
    command = f"python -m benchmarks.cluster --seconds {given.seconds:g} --rounds {given.rounds}"
    with (
        running_postgresql(binaries) as postgresql,
        running_nats() as nats,
        measured_on(command) as note,
    ):
        for number in range(given.rounds):
            for condition in CONDITIONS:
                url = postgresql.new_database()
                cost = asyncio.run(measure(condition, given, url, postgresql, nats))
                costs[condition.what].append(cost)
                print(f"{number + 1}: {condition.what}: {cost}", flush=True)
    text = section(costs, given, note())
    print(text)
    if given.write:
        write_cluster("cost", text)


if __name__ == "__main__":
    main()
