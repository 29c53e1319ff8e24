"""The server against a bare relay, in one run; writes benchmarks/SERVER.md.

    python -m benchmarks.server [--seconds 5] [--rounds 3] [--most 2000]

Each figure is a median over rounds; the ratio is of neighbours in time. The load runs in this process, on
the same machine. Latencies are the server's own, from a move's arrival to its announcement.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import statistics
from dataclasses import dataclass

import uvloop

from benchmarks.load import Load, all_in, arena_bot, measured, relay_bot
from benchmarks.results import write_server
from benchmarks.script import MAP, frame_sizes, script
from benchmarks.served import arena, histogram, quantile, serving

KINDS = ("arena", "same frames", "one frame")
QUANTILES = (0.5, 0.99, 0.999)
LIMITS = ("--max-connections", "10000", "--max-per-address", "10000", "--hello", "60")


async def _flat_out(bots: int, seconds: float) -> list[float]:
    """Moves a second that so many bots play as fast as they can: arena, and both relays."""
    rates = []
    sizes = [str(size) for size in frame_sizes()]
    for kind in KINDS:
        load = Load()
        relay = ("benchmarks.relay", "PORT", *(sizes if kind == "same frames" else ()))
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
                rates.append(await measured(load, 1.0, seconds))
                for job in jobs:
                    job.cancel()
        _complain(load)
    return rates


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
        f"## Flat out, against a bare relay (median of {rounds} rounds)",
        (
            "The relay knows no game. *Same frames*: for each move it writes what the server writes, an answer "
            "to the mover and a turn to the other. *One frame*: it only hands the move on."
        ),
        "",
        "| bots | moves/s, arena | relay, same frames | ratio | relay, one frame | ratio |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for bots in (10, 100, 1000):
        pairs = [await _flat_out(bots, seconds) for _ in range(rounds)]
        arena, same, one = (statistics.median(each) for each in zip(*pairs, strict=True))
        ratios = [statistics.median(each[0] / each[n] for each in pairs) for n in (1, 2)]
        lines.append(
            f"| {bots} | {arena:,.0f} | {same:,.0f} | {ratios[0]:.2f} | {one:,.0f} | {ratios[1]:.2f} |"
        )
        print(lines[-1], flush=True)
    lines += [
        "",
        "## At a given rate: arrival to announcement, and memory",
        "As many idle connections as playing ones are open beside them.",
        "| playing | moves/s asked | moves/s | p50 ms | p99 ms | p99.9 ms | false forfeits | KiB an idle one | KiB a playing one more |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
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
    return "\n".join(lines) + "\n"


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
