"""What attackers cost honest bots: the 99th percentile of a move by turns without and with each kind of attack.

    python -m benchmarks.attackers [--rounds 5] [--seconds 3] [--kinds messages,frames]

Honest bots play on a real `arena serve` with its default limits (the time for a hello, too long for a short
attack, is shorter). The attackers (testkit/horde.py) come from loopback addresses of their own, are cut
off, and come back at once. An attack is measured from its first moment on, with the load of the same honest bots as in
the calm time before it.

A real attacker's machine is another one. Here the attackers have cores of their own where there are four or more, and the
bots and their server the others; on fewer cores they share all of them, with a scheduler that treats everybody alike. What
that leaves to the bots tells a row of its own, in which everything attacks another server beside the bots', on the
attackers' cores. What the kernel does to receive a packet is done in the attackers' time on
loopback, and would be the server's machine's over a net.

Exit code 1 when the worst round of a kind that attacks the bots' server is at 2 or more, or when any was not cut off.
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

from arena.server.net.outgoing import CLOSE_SECONDS
from benchmarks.kit.faults import report
from benchmarks.kit.halves import load_cores, on_cores, server_cores
from benchmarks.kit.load import Load, all_in, arena_bot, measured
from benchmarks.kit.measure import Ratio, Section, short
from benchmarks.kit.results import claim, measured_on, write_server
from benchmarks.kit.served import ROOT, Running, arena, histogram, quantile
from testkit.horde import KINDS

ALL = "all at once"
ELSEWHERE = "all on another server"
"""What the attackers' being on this machine costs the bots, when their server has nothing to do with them."""
EVERY = [*KINDS, ALL, ELSEWHERE]
HELLO = 2.0
"""Seconds that the server gives from a connection to its hello: attackers are cut off within a round."""
LONGEST = 8.0
"""Seconds after which an attacker must have seen that its connection is over: the hello, or a full buffer, the last words, and
up to two seconds more, as attackers look late where they are many."""
LEAST = {"slow-loris": HELLO + CLOSE_SECONDS + 1, "never-reading": 8.5, ALL: 8.5}
"""Seconds that an attack goes on at the least, however short it is measured: its slowest have been cut off by then."""
TAIL = 0.5
"""Seconds that an attack goes on after it was measured."""
CLIENTS = 16
"""Of one kind, from one address."""
RATE = 300.0
"""Moves a second of all honest bots."""
BOTS = 100
HONEST = [f"bot {number}" for number in range(BOTS)]
"""Names of the honest bots."""
MOST_RATIO = 2.0
"""What p99 may be in the worst round, to that of a calm time."""
SOURCES = 4
"""Addresses that the honest bots come from: each may have 64 connections."""


@dataclass(frozen=True)
class Window:
    """What was measured over some seconds."""

    p99: float
    """Of the bots' round trips, in ms."""
    inside: float
    """Of the server's times from arrival to announcement, in ms."""
    cpu: float
    """The server's, as a share of one core."""


WINDOW = ("p99", "inside", "cpu")
"""What there is of a window."""


@dataclass
class Turns:
    """One kind of attack, round by round."""

    calm: list[Window] = field(default_factory=list)
    attacked: list[Window] = field(default_factory=list)
    tallies: list[dict[str, Any]] = field(default_factory=list)
    """What the attackers said of each round."""

    def ratio(self, calm: Window) -> Ratio:
        """Each round's p99 as the bots see it, to that of a calm time."""
        return Ratio([each.p99 / calm.p99 for each in self.attacked])

    def ratio_inside(self, calm: Window) -> Ratio:
        """The same in the server."""
        return Ratio([each.inside / calm.inside for each in self.attacked])


def usual(turns: Mapping[str, Turns]) -> Window:
    """The calm time to which everything is held: the medians of all of them, for one of a few seconds is off by half."""
    calm = [each for found in turns.values() for each in found.calm]
    return Window(*(statistics.median(getattr(each, what) for each in calm) for what in WINDOW))


def worst(ratio: Ratio) -> float:
    """The worst round's."""
    return max(ratio.values)


def honest_bots(
    tasks: asyncio.TaskGroup, url: str, load: Load, tokens: Mapping[str, str] | None = None
) -> list[asyncio.Task[None]]:
    """Start BOTS bots that play RATE moves a second in all; `tokens` by their names, where the server wants them."""
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
    """What the bots and their server see over so long."""
    before = await asyncio.to_thread(histogram, server.url)
    load.seconds.clear()
    cpu, began = server.cpu, time.monotonic()
    await measured(load, 0, seconds)
    cpu, took = server.cpu - cpu, time.monotonic() - began
    # Where nothing was acknowledged at all, each move took longer than that.
    taken = sorted(load.seconds) or [took]
    after = await asyncio.to_thread(histogram, server.url)
    counts = {bound: after[bound] - before.get(bound, 0) for bound in after}
    return Window(1000 * taken[int(0.99 * (len(taken) - 1))], 1000 * quantile(counts, 0.99), cpu / took)


async def _attacked(
    server: Running, target: Running, load: Load, kind: str, seconds: float, number: int, cores: set[int]
) -> tuple[Window, list[dict[str, Any]]]:
    """The same while `target` is attacked from these cores, and what the attackers said."""
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
        found = await window(server, load, seconds)
        said = [await _out(horde).read() for horde in hordes]
    finally:
        for horde in hordes:
            with suppress(ProcessLookupError):
                horde.kill()
            await horde.wait()
    return found, [json.loads(each) for each in said]


def _out(process: asyncio.subprocess.Process) -> asyncio.StreamReader:
    return cast("asyncio.StreamReader", process.stdout)


def _in(process: asyncio.subprocess.Process) -> asyncio.StreamWriter:
    return cast("asyncio.StreamWriter", process.stdin)


def lasts(kind: str, seconds: float) -> float:
    """How long an attack goes on that is measured for so many seconds, in s."""
    return max(seconds + TAIL, LEAST.get(kind, 0.0))


def _create_victim(server: Running) -> None:
    command = (sys.executable, "-m", "arena", "token", "create", "victim", "--db", server.database)
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


async def run(kinds: list[str], rounds: int, seconds: float) -> tuple[dict[str, Turns], list[str]]:
    """Attack in each round after a calm time of the same length; return the rounds by kind, and the faults."""
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
                for kind, found in turns.items():
                    calm = await window(server, load, seconds)
                    target = other if kind == ELSEWHERE else server
                    place = 1 + number * len(turns) + list(turns).index(kind)
                    attacked, said = await _attacked(server, target, load, kind, seconds, place, theirs)
                    found.calm.append(calm)
                    found.attacked.append(attacked)
                    found.tallies += said
                    print(f"{kind}: {calm} -> {attacked}, {said}", flush=True)
                    await asyncio.sleep(0.5)
            for bot in bots:
                bot.cancel()
    return turns, _faults(turns, load)


def _faults(turns: dict[str, Turns], load: Load) -> list[str]:
    wrong = [f"an honest bot was told {each}" for each in load.errors]
    wrong += [f"an honest bot's match ended by {each}" for each in load.forfeits]
    calm = usual(turns)
    for kind, found in turns.items():
        if kind == ELSEWHERE:
            continue
        for tally in found.tallies:
            if tally["longest"] > LONGEST:
                wrong.append(f"{kind}: a connection lasted {tally['longest']:.1f} s")
            if tally["cut"] < CLIENTS:
                wrong.append(f"{kind}: only {tally['cut']} connections were cut off")
        ratio = found.ratio(calm)
        if worst(ratio) >= MOST_RATIO:
            wrong.append(f"{kind}: p99 is {ratio} times what it is without")
    return wrong


def section(turns: dict[str, Turns], rounds: int, seconds: float) -> Section:
    """What is written to the results. `turns`: of one kind at least that goes for the bots' server."""
    calm = usual(turns)
    apart = server_cores() != load_cores()
    rows = [
        [
            kind,
            f"{statistics.median(each.p99 for each in found.calm):.1f}",
            f"{statistics.median(each.p99 for each in found.attacked):.1f}",
            short(worst(found.ratio(calm))),
            str(found.ratio(calm)),
            str(found.ratio_inside(calm)),
            " → ".join(
                f"{statistics.median(each.cpu for each in some):.0%}" for some in (found.calm, found.attacked)
            ),
            f"{sum(each['cut'] for each in found.tallies):,}",
            f"{max(each['longest'] for each in found.tallies):.1f}",
            f"{_rate(found.tallies) / lasts(kind, seconds):.1f}",
        ]
        for kind, found in turns.items()
    ]
    kind = max((kind for kind in turns if kind != ELSEWHERE), key=lambda each: worst(turns[each].ratio(calm)))
    ratio = turns[kind].ratio(calm)
    beside = (
        f"; {short(worst(turns[ELSEWHERE].ratio(calm)))} × when another server is attacked"
        if ELSEWHERE in turns
        else ""
    )
    alone = max(each.p99 for found in turns.values() for each in found.calm) / calm.p99
    return Section(
        "Honest bots beside attackers",
        f"{BOTS} honest bots play {RATE:.0f} moves a second in all; {rounds} rounds, in each for every kind {seconds:g} s "
        f"without and the first {seconds:g} s with {CLIENTS} attackers, that are cut off and come back at once. p99 of a "
        "move, from its sending to its acknowledgement as the bot sees it; *in the server* from arrival to announcement. "
        f"*Ratio* is to {calm.p99:.1f} ms, the median of all calm times, and in the server to {calm.inside:.1f} ms: one of "
        f"{seconds:g} s is off by half. CPU is that of the bots' server, of one core. Default limits, but {HELLO:g} s for the "
        "hello. The attackers run on the same machine, "
        + (
            "on cores of their own"
            if apart
            else f"where they share {len(load_cores())} cores with the bots and their server, and get as much of them as these"
        )
        + "; the last row tells what that alone costs: there they attack a second server, and the bots' has nothing to do "
        "with them.",
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
                "p99 of honest bots beside attackers with their share of the CPU, the worst round of the worst kind",
                f"less than {MOST_RATIO:g} × that without",
                f"{short(worst(ratio))} ×, by {kind}, where the median is {short(ratio.median)} ×{beside}; "
                f"the worst calm time is {short(alone)} × the median of all",
            )
        ],
    )


def _rate(tallies: list[dict[str, Any]]) -> float:
    """MiB that one attacking process sent, on the average."""
    return float(statistics.mean(each["bytes"] for each in tallies)) / 2**20


def main() -> int:
    """Measure, print, and write the section when every kind was measured; 1 for any fault."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--kinds", default=",".join(EVERY), metavar="KIND,KIND")
    given = parser.parse_args()
    kinds = given.kinds.split(",")
    unknown = set(kinds) - set(EVERY)
    if unknown:
        parser.error(f"no attack is called {', '.join(unknown)}: there are {'; '.join(EVERY)}")
    with measured_on(f"python -m benchmarks.attackers --rounds {given.rounds}") as note:
        turns, faults = uvloop.run(run(kinds, given.rounds, given.seconds))
    text = f"{section(turns, given.rounds, given.seconds).markdown()}\n\n{note()}"
    print(text)
    if set(kinds) == set(EVERY):
        write_server("attackers", text)
    return report(faults)


if __name__ == "__main__":
    sys.exit(main())
