"""What attackers cost honest bots: the 99th percentile of a move by turns without and with each kind of attack.

    python -m benchmarks.attackers [--rounds 3] [--seconds 5] [--kinds messages,frames] [--decoy]

Honest bots play on a real `arena serve` with its default limits (the time for a hello, too long for a short
attack, is shorter). The attackers (tests/peers/horde.py) come from loopback addresses of their own, are cut
off, and come back at once. They run on the same cores: with --decoy they go for another server beside it, which tells
what that alone costs the bots. Exit code 1 when a ratio's median is 2 or more, or when any was not cut off.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, cast

import uvloop

from benchmarks.faults import report
from benchmarks.load import Load, all_in, arena_bot, measured
from benchmarks.measure import Ratio, Section
from benchmarks.results import claim, measured_on, write_server
from benchmarks.served import ROOT, Running, arena, histogram, quantile
from tests.peers.horde import KINDS

ALL = "all at once"
HELLO = 2.0
"""Seconds that the server gives from a connection to its hello: attackers are cut off within a round."""
LONGEST = 6.0
"""Seconds after which an attacker's connection must be over: the hello, or a full buffer, and the last words."""
CLIENTS = 16
"""Of one kind, from one address."""
RATE = 300.0
"""Moves a second of all honest bots."""
BOTS = 100
SOURCES = 4
"""Addresses that the honest bots come from: each may have 64 connections."""


@dataclass
class Turns:
    """One kind of attack, round by round."""

    calm: list[float] = field(default_factory=list)
    """The bots' p99 without it, in ms; `attacked` with it. The server's own are those with an s."""
    attacked: list[float] = field(default_factory=list)
    calm_s: list[float] = field(default_factory=list)
    attacked_s: list[float] = field(default_factory=list)
    tallies: list[dict[str, Any]] = field(default_factory=list)
    """What the attackers said of each round."""

    def ratio(self) -> Ratio:
        return Ratio([with_it / without for with_it, without in zip(self.attacked, self.calm, strict=True)])

    def ratio_s(self) -> Ratio:
        return Ratio(
            [with_it / without for with_it, without in zip(self.attacked_s, self.calm_s, strict=True)]
        )


async def _p99(server: Running, load: Load, seconds: float) -> tuple[float, float]:
    """The bots' round trip and the server's arrival to announcement, in ms, over so long."""
    before = await asyncio.to_thread(histogram, server.url)
    load.seconds.clear()
    await measured(load, 0, seconds)
    taken = sorted(load.seconds)
    after = await asyncio.to_thread(histogram, server.url)
    counts = {bound: after[bound] - before.get(bound, 0) for bound in after}
    return 1000 * taken[int(0.99 * (len(taken) - 1))], 1000 * quantile(counts, 0.99)


async def _attacked(
    server: Running, target: Running, load: Load, kinds: list[str], seconds: float, number: int
) -> tuple[tuple[float, float], list[dict[str, Any]]]:
    """The same while `target` is attacked, and what the attackers said."""
    hordes = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.peers.horde", kind, target.url),
            # another address in each round: who guessed is refused for a minute
            *(f"127.1.{number}.{place}", str(CLIENTS), str(seconds + 3)),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for place, kind in enumerate(kinds, 1)
    ]
    try:
        for horde in hordes:
            await _out(horde).readline()
        for horde in hordes:
            _in(horde).write(b"go\n")
        found = await _p99(server, load, seconds)
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


def _create_victim(server: Running) -> None:
    command = (sys.executable, "-m", "arena", "token", "create", "victim", "--db", server.database)
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


async def run(
    kinds: list[str], rounds: int, seconds: float, *, decoy: bool = False
) -> tuple[dict[str, Turns], list[str]]:
    """Each attack in each round after a calm time of the same length; and what was wrong.

    decoy: the attackers go for another server than the bots
    """
    turns = {kind: Turns() for kind in kinds}
    load = Load()
    with ExitStack() as stack:
        server = stack.enter_context(arena(BOTS // 2, "--hello", str(HELLO)))
        target = stack.enter_context(arena(1, "--hello", str(HELLO))) if decoy else server
        await asyncio.to_thread(_create_victim, target)
        async with asyncio.TaskGroup() as tasks:
            bots = [
                tasks.create_task(
                    arena_bot(
                        server.url,
                        f"bot {number}",
                        load,
                        BOTS / 2 / RATE,
                        source=f"127.0.1.{1 + number % SOURCES}",
                    )
                )
                for number in range(BOTS)
            ]
            await all_in(load, BOTS)
            await asyncio.sleep(3)
            for number in range(rounds):
                for kind, found in turns.items():
                    calm = await _p99(server, load, seconds)
                    chosen = list(KINDS) if kind == ALL else [kind]
                    place = 1 + number * len(turns) + list(turns).index(kind)
                    attacked, said = await _attacked(server, target, load, chosen, seconds, place)
                    found.calm.append(calm[0])
                    found.calm_s.append(calm[1])
                    found.attacked.append(attacked[0])
                    found.attacked_s.append(attacked[1])
                    found.tallies += said
                    print(f"{kind}: {calm} -> {attacked} ms, {said}", flush=True)
                    await asyncio.sleep(1)
            for bot in bots:
                bot.cancel()
    return turns, _faults(turns, load)


def _faults(turns: dict[str, Turns], load: Load) -> list[str]:
    wrong = [f"an honest bot was told {each}" for each in load.errors]
    wrong += [f"an honest bot's match ended by {each}" for each in load.forfeits]
    for kind, found in turns.items():
        for tally in found.tallies:
            if tally["longest"] > LONGEST:
                wrong.append(f"{kind}: a connection lasted {tally['longest']:.1f} s")
            if tally["cut"] < CLIENTS:
                wrong.append(f"{kind}: only {tally['cut']} connections were cut off")
        wrong += [
            f"{kind}: p99 is {ratio} times what it is without, {whose}"
            for whose, ratio in (("as bots see it", found.ratio()), ("in the server", found.ratio_s()))
            if ratio.median >= 2
        ]
    return wrong


def section(turns: dict[str, Turns], rounds: int, seconds: float) -> Section:
    """What is written to the results."""
    rows = [
        [
            kind,
            f"{statistics.median(found.calm):.1f}",
            f"{statistics.median(found.attacked):.1f}",
            str(found.ratio()),
            str(found.ratio_s()),
            f"{sum(each['cut'] for each in found.tallies):,}",
            f"{max(each['longest'] for each in found.tallies):.1f}",
            f"{sum(each['bytes'] for each in found.tallies) / 2**20 / len(found.tallies) / (seconds + 3):.1f}",
        ]
        for kind, found in turns.items()
    ]
    worst = max((found.ratio() for found in turns.values()), key=lambda each: each.median)
    return Section(
        "Honest bots beside attackers",
        f"{BOTS} honest bots play {RATE:.0f} moves a second in all; {rounds} rounds, in each for every kind {seconds:g} s "
        f"without and {seconds:g} s with {CLIENTS} attackers, that are cut off and come back at once. p99 of a move, from its "
        "sending to its acknowledgement as the bot sees it; *in the server* from arrival to announcement. Default limits, but "
        f"{HELLO:g} s for the hello; the attackers run on the same machine.",
        ["attack", "p99 ms without", "with", "ratio", "in the server", "cut off", "longest s", "MB/s a kind"],
        rows,
        claims=[
            claim(
                "p99 of honest bots beside attackers, the worst kind",
                "less than 2 × that without",
                f"{worst} ×",
            )
        ],
    )


def main() -> int:
    """Measure, print, and write the section when every kind was measured; 1 for any fault."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--kinds", default=",".join([*KINDS, ALL]), metavar="KIND,KIND")
    parser.add_argument("--decoy", action="store_true", help="attack another server than the bots'")
    given = parser.parse_args()
    kinds = given.kinds.split(",")
    unknown = set(kinds) - {*KINDS, ALL}
    if unknown:
        parser.error(f"no attack is called {', '.join(unknown)}: there are {', '.join([*KINDS, ALL])}")
    with measured_on("python -m benchmarks.attackers") as note:
        turns, faults = uvloop.run(run(kinds, given.rounds, given.seconds, decoy=given.decoy))
    text = f"{section(turns, given.rounds, given.seconds).markdown()}\n\n{note()}"
    print(text)
    if len(kinds) == len(KINDS) + 1 and not given.decoy:
        write_server("attackers", text)
    return report(faults)


if __name__ == "__main__":
    sys.exit(main())
