"""Comparison of the server with bare relays, in one run; writes benchmarks/SERVER.md.

    python -m benchmarks.server [--seconds 5] [--rounds 3] [--most 2000]

Each figure is a median over rounds; ratios compare consecutive runs. The load runs in separate processes on the same
machine, and the report shows its CPU usage. Latencies at a given rate are measured in the server, from a move's arrival
to its announcement.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
from dataclasses import dataclass

import uvloop

from benchmarks.kit.flat import LIMITS, make_claims, make_full_speed_section
from benchmarks.kit.load import Load, measure_rate, run_arena_bot, wait_until_all_connected
from benchmarks.kit.lone import make_lone_move_section
from benchmarks.kit.results import SERVER, format_claim
from benchmarks.kit.script import MAP, make_script
from benchmarks.kit.served import fetch_histogram, interpolate_quantile, run_arena_server

QUANTILES = (0.5, 0.99, 0.999)


@dataclass
class PacedFigures:
    """Measurements of one run at a given rate of moves."""

    bots: int
    asked: float
    rate: float
    milliseconds: list[float]
    forfeits: int
    idle_kib: float
    playing_kib: float


async def _measure_paced(bots: int, rate: float, seconds: float) -> PacedFigures:
    """Run bots that play `rate` moves per second together. Also measure the memory of idle and of playing connections."""
    load = Load()
    with run_arena_server(bots // 2, *LIMITS) as running:
        async with asyncio.TaskGroup() as tasks:
            empty = running.memory_bytes
            jobs = [
                tasks.create_task(run_arena_bot(running.url, f"idle {number}", load, pool=False))
                for number in range(bots)
            ]
            await wait_until_all_connected(load, bots)
            await asyncio.sleep(1)
            idle = running.memory_bytes
            # one bot of two is to move
            pause = bots / 2 / rate
            jobs += [
                tasks.create_task(run_arena_bot(running.url, f"bot {number}", load, pause))
                for number in range(bots)
            ]
            await wait_until_all_connected(load, 2 * bots)
            await asyncio.sleep(min(5.0, 2 * pause))
            before = await asyncio.to_thread(fetch_histogram, running.url)
            reached = await measure_rate(load, 0, seconds)
            after = await asyncio.to_thread(fetch_histogram, running.url)
            playing = running.memory_bytes
            for job in jobs:
                job.cancel()
    _print_errors(load)
    counts = {bound: after[bound] - before.get(bound, 0) for bound in after}
    latencies = [1000 * interpolate_quantile(counts, each) for each in QUANTILES]
    return PacedFigures(
        bots,
        rate,
        reached,
        latencies,
        len(load.forfeits),
        (idle - empty) / bots / 1024,
        (playing - idle) / bots / 1024,
    )


def _print_errors(load: Load) -> None:
    if load.errors:
        print(f"  {len(load.errors)} errors, the first: {load.errors[0]}")


async def _measure_all(seconds: float, rounds: int, max_bots: int) -> str:
    load = os.getloadavg()[0]
    flat, ratios = await asyncio.to_thread(make_full_speed_section, seconds, rounds)
    lines = [
        (
            f"The following three sections were measured by `make bench-server` on {os.cpu_count()} cores, with the load generator "
            f"on the same machine (load average before the run: {load:.1f}). The server stores all moves in its journal, on SQLite. "
            f"The bots play one fixed match of {len(make_script())} plies on `{MAP}` again and again."
        ),
        "",
        *flat,
        "",
        *make_claims(ratios),
        "",
        *await make_lone_move_section(2 * seconds),
        "",
        *await _make_paced_section(seconds, max_bots),
    ]
    return "\n".join(lines) + "\n"


async def _make_paced_section(seconds: float, max_bots: int) -> list[str]:
    lines = [
        "## At a given rate: arrival to announcement, and memory",
        (
            "In this measurement the bots play at a fixed rate. *p50 ms* to *p99.9 ms* are the times from the arrival of a move at the "
            "server to its announcement. For each playing connection, one idle connection is open too. The memory of ten connections is "
            "too small to measure."
        ),
        "",
        "| playing | moves/s asked | moves/s | p50 ms | p99 ms | p99.9 ms | false forfeits | KiB per idle connection | KiB more per playing connection |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    paced = None
    for bots in (10, 100, 1000):
        if bots > max_bots // 2:
            continue
        paced = await _measure_paced(bots, float(bots), 2 * seconds)
        p50, p99, p999 = paced.milliseconds
        lines.append(
            f"| {bots} | {paced.asked:,.0f} | {paced.rate:,.0f} | {p50:.1f} | {p99:.1f} | {p999:.1f} "
            f"| {paced.forfeits} | {paced.idle_kib:.1f} | {paced.playing_kib:.1f} |"
        )
        print(lines[-1], flush=True)
    if paced is None or paced.bots < 1000:
        return lines
    text = f"p99 {paced.milliseconds[1]:.1f} ms, {paced.forfeits} forfeits at {paced.rate:,.0f} moves/s"
    return [
        *lines,
        "",
        format_claim(
            "time of a move with 1,000 bots in 500 matches, at 1,000 moves a second",
            "p99 at most 2.5 ms, no forfeit",
            text,
        ),
        "",
        format_claim(
            "memory of an idle connection, with 1,000 connections",
            "at most 9.1 KiB",
            f"{paced.idle_kib:.1f} KiB",
        ),
        "",
        format_claim(
            "memory of a playing connection, with 1,000 connections",
            "at most 27.5 KiB",
            f"{paced.playing_kib:.1f} KiB",
        ),
    ]


def main() -> None:
    """Measure, print, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=2000, help="maximum number of connections")
    arguments = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 20_000)), hard))
    report = uvloop.run(_measure_all(arguments.seconds, arguments.rounds, arguments.most))
    SERVER.replace_section("speed", report)


if __name__ == "__main__":
    main()
