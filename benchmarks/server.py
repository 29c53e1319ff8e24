"""The server against bare relays, in one run; writes benchmarks/SERVER.md.

    python -m benchmarks.server [--seconds 5] [--rounds 3] [--most 2000]

Each figure is a median over rounds; the ratio is of neighbours in time. The load runs in this process, on
the same machine, and how much of a core it takes is told. Latencies are the server's own, from a move's arrival to its announcement.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import statistics
import time
from dataclasses import dataclass

import uvloop

from benchmarks.kit.load import Load, all_in, arena_bot, measured, relay_bot
from benchmarks.kit.results import claim, write_server
from benchmarks.kit.script import MAP, frame_sizes, script
from benchmarks.kit.served import arena, histogram, quantile, serving

KINDS = ("arena", "relay", "ready-made relay")
LOAD_IS_THE_BOUND = 0.8
"""The share of its core from which on the load may be what bounds a run."""
QUANTILES = (0.5, 0.99, 0.999)
LIMITS = (
    *("--max-connections", "10000", "--max-per-address", "10000", "--hello", "60"),
    *("--max-moves", "1000000"),  # all bots come from one address
)


@dataclass
class Flat:
    """A run as fast as it goes."""

    rate: float
    """Moves a second."""
    server: float
    """Microseconds of CPU a move, the kernel's for it included."""
    load: float
    """The share of a core that the bots took."""


async def _flat_out(bots: int, seconds: float) -> list[Flat]:
    """What so many bots reach that play as fast as they can, by kind."""
    runs = []
    sizes = [str(size) for size in frame_sizes()]
    for kind in KINDS:
        load = Load()
        relay = ("benchmarks.relay", "PORT", *sizes, *(("--ready-made",) if kind == KINDS[2] else ()))
        with arena(bots // 2, *LIMITS) if kind == "arena" else serving(*relay) as running:
            async with asyncio.TaskGroup() as tasks:
                jobs = [
                    tasks.create_task(
                        arena_bot(running.url, f"bot {number}", load)
                        if kind == "arena"
                        else relay_bot(running.url, number % 2 == 1, load)
                    )
                    for number in range(bots)
                ]
                await all_in(load, bots)
                await asyncio.sleep(1)
                moves, server = load.moves, running.cpu
                own, began = time.process_time(), time.perf_counter()
                rate = await measured(load, 0, seconds)
                share = (time.process_time() - own) / (time.perf_counter() - began)
                moves = max(1, load.moves - moves)
                runs.append(Flat(rate, 1e6 * (running.cpu - server) / moves, share))
                for job in jobs:
                    job.cancel()
        _complain(load)
    return runs


@dataclass
class Paced:
    """A run at a given rate."""

    bots: int
    asked: float
    rate: float
    milliseconds: list[float]
    forfeits: int
    idle_kib: float
    playing_kib: float


async def _paced(bots: int, rate: float, seconds: float) -> Paced:
    """So many bots that play `rate` moves a second in all; memory of a connection, idle and playing."""
    load = Load()
    with arena(bots // 2, *LIMITS) as running:
        async with asyncio.TaskGroup() as tasks:
            empty = running.memory
            jobs = [
                tasks.create_task(arena_bot(running.url, f"idle {number}", load, pool=False))
                for number in range(bots)
            ]
            await all_in(load, bots)
            await asyncio.sleep(1)
            idle = running.memory
            # one bot of two is to move
            pause = bots / 2 / rate
            jobs += [
                tasks.create_task(arena_bot(running.url, f"bot {number}", load, pause))
                for number in range(bots)
            ]
            await all_in(load, 2 * bots)
            await asyncio.sleep(min(5.0, 2 * pause))
            before = await asyncio.to_thread(histogram, running.url)
            reached = await measured(load, 0, seconds)
            after = await asyncio.to_thread(histogram, running.url)
            playing = running.memory
            for job in jobs:
                job.cancel()
    _complain(load)
    counts = {bound: after[bound] - before.get(bound, 0) for bound in after}
    latencies = [1000 * quantile(counts, each) for each in QUANTILES]
    return Paced(
        bots,
        rate,
        reached,
        latencies,
        len(load.forfeits),
        (idle - empty) / bots / 1024,
        (playing - idle) / bots / 1024,
    )


def _complain(load: Load) -> None:
    if load.errors:
        print(f"  {len(load.errors)} errors, the first: {load.errors[0]}")


async def _run(seconds: float, rounds: int, most: int) -> str:
    lines = [
        (
            f"`make bench-server`, on {os.cpu_count()} cores with the load on the same machine "
            f"(load average before: {os.getloadavg()[0]:.1f}). Journal on, SQLite. Bots play one fixed match of "
            f"{len(script())} plies on `{MAP}` again and again."
        ),
        "",
        *await _flat_lines(seconds, rounds),
        "",
        *await _paced_lines(seconds, most),
    ]
    return "\n".join(lines) + "\n"


async def _flat_lines(seconds: float, rounds: int) -> list[str]:
    lines = [
        f"## Flat out, against a bare relay (medians of {rounds} rounds)",
        (
            "The relay knows no game, and keeps nothing: for each move it writes what the server writes, an answer to "
            "the mover and a turn to the other. It stands on the server's own connections; the *ready-made* one on "
            "those that come with `websockets`. CPU is that of the process, in microseconds a move; its ratio is what "
            "the game, the lobby and the journal cost. *Load* is the share of a core that the bots took, against the "
            f"server, the relay and the ready-made one: where it is over {LOAD_IS_THE_BOUND:.0%} it is marked, and may "
            "be what bounded the moves a second. With few bots each waits for the commit of its move."
        ),
        "",
        "| bots | CPU, arena | relay | ratio | ready-made | ratio | moves/s, arena | relay | ready-made | load |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    found = []
    for bots in (10, 100, 1000):
        runs = [await _flat_out(bots, seconds) for _ in range(rounds)]
        cpu = [statistics.median(run[kind].server for run in runs) for kind in range(3)]
        rates = [statistics.median(run[kind].rate for run in runs) for kind in range(3)]
        ratios = [[run[0].server / run[kind].server for run in runs] for kind in (1, 2)]
        shown = [f"{statistics.median(each):.1f} ({min(each):.1f} to {max(each):.1f})" for each in ratios]
        load = " / ".join(_share([run[kind].load for run in runs]) for kind in range(3))
        lines.append(
            f"| {bots} | {cpu[0]:.0f} | {cpu[1]:.0f} | {shown[0]} | {cpu[2]:.0f} | {shown[1]} "
            f"| {rates[0]:,.0f} | {rates[1]:,.0f} | {rates[2]:,.0f} | {load} |"
        )
        found.append(f"{shown[0]} × with {bots:,} bots")
        print(lines[-1], flush=True)
    what = "CPU a move of the server, over that of a relay on the same connections"
    return [
        *lines,
        "",
        claim(what, "at most 4 × with 10 bots, 2.2 × with 100 and with 1,000", "; ".join(found)),
    ]


def _share(shares: list[float]) -> str:
    share = statistics.median(shares)
    return f"**{share:.0%}**" if share > LOAD_IS_THE_BOUND else f"{share:.0%}"


async def _paced_lines(seconds: float, most: int) -> list[str]:
    lines = [
        "## At a given rate: arrival to announcement, and memory",
        "As many idle connections as playing ones are open beside them. With ten, their memory is lost among what a server takes anyway.",
        "",
        "| playing | moves/s asked | moves/s | p50 ms | p99 ms | p99.9 ms | false forfeits | KiB an idle one | KiB a playing one more |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    paced = None
    for bots in (10, 100, 1000):
        if bots > most // 2:
            continue
        paced = await _paced(bots, float(bots), 2 * seconds)
        p50, p99, p999 = paced.milliseconds
        lines.append(
            f"| {bots} | {paced.asked:,.0f} | {paced.rate:,.0f} | {p50:.1f} | {p99:.1f} | {p999:.1f} "
            f"| {paced.forfeits} | {paced.idle_kib:.1f} | {paced.playing_kib:.1f} |"
        )
        print(lines[-1], flush=True)
    if paced is None or paced.bots < 1000:
        return lines
    found = f"p99 {paced.milliseconds[1]:.1f} ms, {paced.forfeits} forfeits at {paced.rate:,.0f} moves/s"
    return [
        *lines,
        "",
        claim("1,000 bots in 500 matches, 1,000 moves a second", "p99 under 10 ms, no forfeit", found),
        "",
        claim("an idle connection, of 1,000", "under 40 KiB", f"{paced.idle_kib:.1f} KiB"),
    ]


def main() -> None:
    """Measure, print, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=2000, help="connections")
    given = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 20_000)), hard))
    report = uvloop.run(_run(given.seconds, given.rounds, given.most))
    write_server("speed", report)


if __name__ == "__main__":
    main()
