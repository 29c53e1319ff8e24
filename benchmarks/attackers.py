"""Cost of attacks for honest bots: 99th percentile of a move's time, alternately without and with each kind of attack.

    python -m benchmarks.attackers [--rounds 5] [--seconds 3] [--kinds messages,frames]

Honest bots play on a real `arena serve` with its default limits. Only the time limit for a hello is shorter, because
the default is too long for a short attack. The attackers (testkit/horde.py) use loopback addresses of their own, are
disconnected by the server, and reconnect at once. Each attack is measured from its start, with the same load of honest
bots as in the calm period before it.

Real attackers would use other machines. Here they run on separate cores if the machine has at least four; otherwise
they share all cores with the bots and the server. One row shows the effect of this sharing alone: there, all attacks go
to a second server that no honest bot uses, on the attackers' cores. On loopback, the kernel's work to receive a packet
is charged to the attackers; over a network, it would be charged to the server's machine.

The exit code is 1 if the worst round of any attack on the bots' server has a ratio of 2 or more, or if a kind of attack
was never cut off.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, cast

import uvloop

from arena.server.edge.connection import CLOSE_SECONDS
from benchmarks.kit.faults import report
from benchmarks.kit.halves import load_cores, on_cores, server_cores
from benchmarks.kit.load import Load, all_in, arena_bot, measured
from benchmarks.kit.measure import Ratio, Section, short
from benchmarks.kit.results import claim, measured_on, write_server
from benchmarks.kit.served import ROOT, Running, arena, histogram, quantile
from testkit.horde import KINDS

ALL = "all at once"
ELSEWHERE = "all on another server"
"""Baseline attack that shows the cost of sharing this machine: it goes to a server that the bots do not use."""
EVERY = [*KINDS, ALL, ELSEWHERE]
HELLO = 2.0
"""Time limit for a hello, in seconds. It is short, so that attackers are cut off within a round."""
MAX_SECONDS = 8.0
"""Time for an attacker to notice that its connection was closed, in seconds: the time limit for the hello or for a full
buffer, the closing handshake, and up to two seconds more, because attackers poll slowly when there are many.
"""
LEAST = {"slow-loris": HELLO + CLOSE_SECONDS + 1, "never-reading": 8.5, ALL: 8.5}
"""Shortest duration of an attack, in seconds, however short the measurement: by then its slowest connections are cut
off.
"""
TAIL = 0.5
"""Time that an attack continues after its measurement, in seconds."""
CLIENTS = 16
"""Number of attackers of one kind, all from one address."""
RATE = 300.0
"""Moves per second of all honest bots together."""
BOTS = 100
HONEST = [f"bot {number}" for number in range(BOTS)]
"""Names of the honest bots."""
MAX_RATIO = 2.0
"""Largest allowed ratio of the worst round's p99 to the calm p99."""
SOURCES = 4
"""Number of addresses of the honest bots: each address may have 64 connections."""


@dataclass(frozen=True)
class Window:
    """Measurements over one period."""

    p99: float
    """Percentiles of the bots' round trips, in ms."""
    inside: float
    """Percentiles of the server's time from arrival to announcement, in ms."""
    cpu: float
    """CPU usage of the server, as a share of one core."""


WINDOW = ("p99", "inside", "cpu")
"""Return the measurements of a period."""


@dataclass
class Turns:
    """Rounds of one kind of attack."""

    calm: list[Window] = field(default_factory=list)
    attacked: list[Window] = field(default_factory=list)
    tallies: list[dict[str, Any]] = field(default_factory=list)
    """Summary that the attackers printed for each round."""

    def ratio(self, calm: Window) -> Ratio:
        """Return the ratio of each round's p99 to the calm p99, as seen by the bots."""
        return Ratio([each.p99 / calm.p99 for each in self.attacked])

    def ratio_inside(self, calm: Window) -> Ratio:
        """Return the ratio of each round's p99 to the calm p99, measured in the server."""
        return Ratio([each.inside / calm.inside for each in self.attacked])


def usual(turns: Mapping[str, Turns]) -> Window:
    """Return the calm baseline: the medians of all calm periods. A single period of a few seconds can be off by half."""
    calm = [each for turn in turns.values() for each in turn.calm]
    return Window(*(statistics.median(getattr(each, what) for each in calm) for what in WINDOW))


def worst(ratio: Ratio) -> float:
    """Return the ratio of the worst round."""
    return max(ratio.values)


def honest_bots(
    tasks: asyncio.TaskGroup, url: str, load: Load, tokens: Mapping[str, str] | None = None
) -> list[asyncio.Task[None]]:
    """Start BOTS bots that together play RATE moves per second. `tokens`: token of each name, if the server requires
    them.
    """
    return [
        tasks.create_task(
            arena_bot(
                url,
                name,
                load,
                BOTS / 2 / RATE,
                token=tokens[name] if tokens else "",
                source=f"127.0.1.{1 + number % SOURCES}",
            )
        )
        for number, name in enumerate(HONEST)
    ]


async def window(server: Running, load: Load, seconds: float) -> Window:
    """Measure the bots and their server for `seconds`."""
    before = await asyncio.to_thread(histogram, server.url)
    load.seconds.clear()
    cpu, began = server.cpu, time.monotonic()
    await measured(load, 0, seconds)
    cpu, took = server.cpu - cpu, time.monotonic() - began
    # Where nothing was acknowledged at all, each move took longer than that.
    durations = sorted(load.seconds) or [took]
    after = await asyncio.to_thread(histogram, server.url)
    counts = {bound: after[bound] - before.get(bound, 0) for bound in after}
    return Window(
        1000 * durations[int(0.99 * (len(durations) - 1))], 1000 * quantile(counts, 0.99), cpu / took
    )


async def _attacked(
    server: Running, target: Running, load: Load, kind: str, seconds: float, number: int, cores: set[int]
) -> tuple[Window, list[dict[str, Any]]]:
    """Return the measurements while `target` is attacked from these cores, and the attackers' summaries."""
    kinds = [kind] if kind in KINDS else list(KINDS)
    with on_cores(cores):
        hordes = [
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "testkit.horde", each, target.url),
                # another address in each round: who guessed is refused for a minute
                *(f"127.1.{number}.{place}", str(CLIENTS), str(lasts(kind, seconds))),
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            for place, each in enumerate(kinds, 1)
        ]
    try:
        for horde in hordes:
            await _out(horde).readline()
        for horde in hordes:
            _in(horde).write(b"go\n")
        hit_window = await window(server, load, seconds)
        messages = [await _out(horde).read() for horde in hordes]
    finally:
        for horde in hordes:
            with suppress(ProcessLookupError):
                horde.kill()
            await horde.wait()
    return hit_window, [json.loads(each) for each in messages]


def _out(process: asyncio.subprocess.Process) -> asyncio.StreamReader:
    return cast("asyncio.StreamReader", process.stdout)


def _in(process: asyncio.subprocess.Process) -> asyncio.StreamWriter:
    return cast("asyncio.StreamWriter", process.stdin)


def lasts(kind: str, seconds: float) -> float:
    """Return the duration of an attack that is measured for `seconds`, in seconds."""
    return max(seconds + TAIL, LEAST.get(kind, 0.0))


def _create_victim(server: Running) -> None:
    command = (sys.executable, "-m", "arena", "token", "create", "victim", "--db", server.database)
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


async def run(kinds: list[str], rounds: int, seconds: float) -> tuple[dict[str, Turns], list[str]]:
    """Attack in each round after a calm period of the same length. Return the rounds by kind, and the failures."""
    turns = {kind: Turns() for kind in kinds}
    load = Load()
    mine, theirs = server_cores(), load_cores()
    with ExitStack() as stack:
        # The bots are in this process, and have the cores of their server.
        stack.enter_context(on_cores(mine))
        server = other = stack.enter_context(
            arena(BOTS // 2, f"--set=limits.hello_seconds={HELLO}", cores=mine)
        )
        await asyncio.to_thread(_create_victim, server)
        if ELSEWHERE in kinds:
            other = stack.enter_context(arena(1, f"--set=limits.hello_seconds={HELLO}", cores=theirs))
            await asyncio.to_thread(_create_victim, other)
        async with asyncio.TaskGroup() as tasks:
            bots = honest_bots(tasks, server.url, load)
            await all_in(load, BOTS)
            await asyncio.sleep(3)
            for number in range(rounds):
                for kind, turn in turns.items():
                    calm = await window(server, load, seconds)
                    target = other if kind == ELSEWHERE else server
                    place = 1 + number * len(turns) + list(turns).index(kind)
                    attacked, said = await _attacked(server, target, load, kind, seconds, place, theirs)
                    turn.calm.append(calm)
                    turn.attacked.append(attacked)
                    turn.tallies += said
                    print(f"{kind}: {calm} -> {attacked}, {said}", flush=True)
                    await asyncio.sleep(0.5)
            for bot in bots:
                bot.cancel()
    return turns, _faults(turns, load)


def _faults(turns: dict[str, Turns], load: Load) -> list[str]:
    wrong = [f"an honest bot was told {each}" for each in load.errors]
    wrong += [f"an honest bot's match ended by {each}" for each in load.forfeits]
    calm = usual(turns)
    for kind, turn in turns.items():
        if kind == ELSEWHERE:
            continue
        for tally in turn.tallies:
            if tally["longest"] > MAX_SECONDS:
                wrong.append(f"{kind}: a connection lasted {tally['longest']:.1f} s")
            if tally["cut"] < CLIENTS:
                wrong.append(f"{kind}: only {tally['cut']} connections were cut off")
        ratio = turn.ratio(calm)
        if worst(ratio) >= MAX_RATIO:
            wrong.append(f"{kind}: p99 is {ratio} times what it is without")
    return wrong


def section(turns: dict[str, Turns], rounds: int, seconds: float) -> Section:
    """Return the section for the report. `turns` must contain at least one attack on the bots' server."""
    calm = usual(turns)
    apart = server_cores() != load_cores()
    rows = [
        [
            kind,
            f"{statistics.median(each.p99 for each in turn.calm):.1f}",
            f"{statistics.median(each.p99 for each in turn.attacked):.1f}",
            short(worst(turn.ratio(calm))),
            str(turn.ratio(calm)),
            str(turn.ratio_inside(calm)),
            " → ".join(
                f"{statistics.median(each.cpu for each in some):.0%}" for some in (turn.calm, turn.attacked)
            ),
            f"{sum(each['cut'] for each in turn.tallies):,}",
            f"{max(each['longest'] for each in turn.tallies):.1f}",
            f"{_rate(turn.tallies) / lasts(kind, seconds):.1f}",
        ]
        for kind, turn in turns.items()
    ]
    kind = max((kind for kind in turns if kind != ELSEWHERE), key=lambda each: worst(turns[each].ratio(calm)))
    ratio = turns[kind].ratio(calm)
    beside = (
        f"; {short(worst(turns[ELSEWHERE].ratio(calm)))} × when another server is attacked"
        if ELSEWHERE in turns
        else ""
    )
    alone = max(each.p99 for turn in turns.values() for each in turn.calm) / calm.p99
    return Section(
        "Honest bots during attacks",
        f"{BOTS} honest bots play {RATE:.0f} moves a second in total. The server has default limits, except {HELLO:g} s for the "
        f"hello. In each of {rounds} rounds, each kind of attack follows a calm time of {seconds:g} s, and its first {seconds:g} s "
        f"are measured. The {CLIENTS} attackers reconnect at once when they are disconnected.\n\n"
        "- *p99 ms* is that of the time from sending a move to its acknowledgement, as the bot sees it.\n"
        f"- *Ratio* compares it with {calm.p99:.1f} ms, the median p99 of all calm times, because a single time of {seconds:g} s can "
        "be off by half.\n"
        f"- *In the server* is the same ratio for the time from arrival to announcement. The calm median is {calm.inside:.1f} ms.\n"
        "- *CPU* is the share of one core that the bots' server uses.\n\n"
        "The attackers run on the same machine, "
        + (
            "on separate cores. "
            if apart
            else f"share {len(load_cores())} cores with the bots and their server, and get as much CPU time as these. "
        )
        + "The last row shows the effect of this alone: there, all attacks go to a second server.",
        [
            "attack",
            "p99 ms without",
            "with",
            "worst ratio",
            "ratio",
            "in the server",
            "CPU",
            "cut off",
            "longest s",
            "MB/s a kind",
        ],
        rows,
        claims=[
            claim(
                "p99 of honest bots while attackers take their share of the CPU, in the worst round of the worst attack",
                f"less than {MAX_RATIO:g} × the calm p99",
                f"{short(worst(ratio))} × with {kind}, whose median is {short(ratio.median)} ×{beside}; "
                f"the worst calm time is {short(alone)} × the median of all",
            )
        ],
    )


def _rate(tallies: list[dict[str, Any]]) -> float:
    """Return the average number of MiB that one attacking process sent."""
    return float(statistics.mean(each["bytes"] for each in tallies)) / 2**20


def main() -> int:
    """Measure, print, and write the section if every kind was measured. Return 1 if there was a failure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--kinds", default=",".join(EVERY), metavar="KIND,KIND")
    arguments = parser.parse_args()
    kinds = arguments.kinds.split(",")
    unknown = set(kinds) - set(EVERY)
    if unknown:
        parser.error(f"no attack is called {', '.join(unknown)}: there are {'; '.join(EVERY)}")
    with measured_on(f"python -m benchmarks.attackers --rounds {arguments.rounds}") as note:
        turns, faults = uvloop.run(run(kinds, arguments.rounds, arguments.seconds))
    text = f"{section(turns, arguments.rounds, arguments.seconds).markdown()}\n\n{note()}"
    print(text)
    if set(kinds) == set(EVERY):
        write_server("attackers", text)
    return report(faults)


if __name__ == "__main__":
    sys.exit(main())
