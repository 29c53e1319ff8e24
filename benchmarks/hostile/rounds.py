"""Rounds of honest play by turns without and with strangers who send one kind of request, and what is told of them."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from benchmarks.attackers import BOTS, HONEST, RATE, Window, honest_bots, window, worst
from benchmarks.hostile.kinds import HOUSE
from benchmarks.hostile.seeds import fill
from benchmarks.hostile.stranger import Tally
from benchmarks.kit.halves import load_cores, on_cores, server_cores
from benchmarks.kit.load import Load, all_in
from benchmarks.kit.measure import Ratio, Section, short
from benchmarks.kit.results import claim
from benchmarks.kit.script import MAP
from benchmarks.kit.served import ROOT, Running, serving

SECONDS = 5.0
"""Of each quiet and each hostile time: 1,500 honest moves, and all kinds are measured within twenty minutes."""
ADDRESSES = 10
CLIENTS = 8
"""Of each address."""
MATCHES = 1000
"""Matches that the server plays at once: neither honest bots nor strangers wait for one of the others' to end."""
MOST = 2.0
"""By how much honest bots may wait longer."""
NEAR = 1.5
"""A kind with such a ratio has more rounds."""
MORE_ROUNDS = 2
MOST_NEAR = 24
"""Kinds that have more rounds, those with the greatest ratios first."""
MOST_MEMORY = 1.2
SETTLE_SECONDS = 0.5


@dataclass
class Turns:
    """One kind of request, round by round."""

    quiet: list[Window] = field(default_factory=list)
    hostile: list[Window] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)
    memory: list[tuple[int, int]] = field(default_factory=list)
    """The server's, in bytes, round by round: while the strangers are connected and silent, and at the end."""

    def ratios(self, quiet: float) -> list[float]:
        """Of the p99 of honest bots to that of the quiet, in ms, round by round."""
        return [there.p99 / quiet for there in self.hostile]

    @property
    def inside(self) -> list[float]:
        """Of the p99 in the server, round by round."""
        return [there.inside / quiet.inside for there, quiet in zip(self.hostile, self.quiet, strict=True)]


@dataclass
class Outcome:
    """What came of all rounds."""

    turns: dict[str, Turns] = field(default_factory=dict)
    load: Load = field(default_factory=Load)
    memory: int = 0
    """The server's before the first round, in bytes."""

    @property
    def quiet(self) -> float:
        """The p99 of honest bots in ms in the quiet: the median of all quiet times, for each alone may be off by half."""
        return statistics.median(each.p99 for turns in self.turns.values() for each in turns.quiet)

    def ratio(self, kind: str) -> Ratio:
        """How much longer honest bots wait beside a kind of request."""
        return Ratio(self.turns[kind].ratios(self.quiet))


class Strangers:
    """The strangers' process, which is given one order after the other."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._in = cast("asyncio.StreamWriter", process.stdin)
        self._out = cast("asyncio.StreamReader", process.stdout)

    async def say(self, content: object) -> None:
        """Give it a line."""
        self._in.write(json.dumps(content).encode() + b"\n")
        await self._in.drain()

    async def hear(self) -> dict[str, Any]:
        """Its next line. Raises RuntimeError where it has ended."""
        line = await self._out.readline()
        if not line:
            raise RuntimeError("the strangers' process has ended; its output above says why")
        said: dict[str, Any] = json.loads(line)
        return said


@asynccontextmanager
async def _strangers(url: str, tokens: dict[str, str]) -> AsyncIterator[Strangers]:
    with on_cores(load_cores()):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.hostile.strangers", url),
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
    try:
        strangers = Strangers(process)
        await strangers.say(tokens)
        await strangers.hear()
        yield strangers
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def run(database: str, kinds: list[str], seconds: float, clients: int) -> Outcome:
    """Every kind in a round of its own, and in more where it comes near the bound."""
    playing = [f"stranger {number:03}" for number in range(ADDRESSES * clients)]
    tokens = await fill(database, [*HONEST, *playing])
    outcome = Outcome()
    serve = (
        "arena",
        "serve",
        "--port",
        "PORT",
        f"--set=house.engines={HOUSE.removeprefix('house-')}",
        "--map",
        MAP,
    )
    pool = ("--tc", "60+1", "--set=pool.pause_seconds=0", "--set=pool.openings=none")
    mine, limits = server_cores(), (f"--set=pool.concurrency={MATCHES}", "--db", database)
    # The honest bots are in this process, and have the cores of their server.
    with on_cores(mine), serving(*serve, *pool, *limits, cores=mine) as server:
        async with asyncio.TaskGroup() as tasks:
            bots = honest_bots(tasks, server.url, outcome.load, tokens)
            await all_in(outcome.load, BOTS)
            async with _strangers(server.url, {name: tokens[name] for name in playing}) as strangers:
                await asyncio.sleep(seconds)
                outcome.memory = server.memory
                rounds = Rounds(server, strangers, outcome, seconds, clients)
                for kind in kinds:
                    await rounds.play(kind)
                for kind in near(outcome):
                    for _ in range(MORE_ROUNDS):
                        await rounds.play(kind)
            for bot in bots:
                bot.cancel()
    return outcome


def near(outcome: Outcome) -> list[str]:
    """The kinds whose first round came near the bound, the worst first."""
    first = {kind: outcome.ratio(kind).values[0] for kind in outcome.turns}
    worst = sorted(first, key=lambda kind: -first[kind])
    return [kind for kind in worst if first[kind] >= NEAR][:MOST_NEAR]


class Rounds:
    """Plays one round after the other, each from addresses that were never there before."""

    def __init__(
        self, server: Running, strangers: Strangers, outcome: Outcome, seconds: float, clients: int
    ) -> None:
        self._server = server
        self._strangers = strangers
        self._outcome = outcome
        self._seconds = seconds
        self._clients = clients
        self._number = 0

    async def play(self, kind: str) -> None:
        """A quiet time, and then one in which the strangers send requests of this kind."""
        self._number += 1
        turns = self._outcome.turns.setdefault(kind, Turns())
        order = {
            "kind": kind,
            "addresses": [f"127.{20 + self._number}.0.{place}" for place in range(1, 1 + ADDRESSES)],
            "clients": self._clients,
            "seconds": self._seconds,
        }
        await self._strangers.say(order)
        await self._strangers.hear()
        await asyncio.sleep(SETTLE_SECONDS)
        turns.quiet.append(await window(self._server, self._outcome.load, self._seconds))
        before = self._server.memory
        await self._strangers.say("go")
        turns.hostile.append(await window(self._server, self._outcome.load, self._seconds))
        said = await self._strangers.hear()
        turns.tallies.append(Tally(**said))
        turns.memory.append((before, self._server.memory))
        print(
            f"{kind}: {turns.quiet[-1]} -> {turns.hostile[-1]}, {said}, {turns.memory[-1][1] / 2**20:.0f} MiB",
            flush=True,
        )
        await asyncio.sleep(SETTLE_SECONDS)


def faults(outcome: Outcome) -> list[str]:
    """What was not as it should be."""
    wrong = [f"an honest bot was told {each}" for each in outcome.load.errors]
    wrong += [f"an honest bot's match ended by {each}" for each in outcome.load.forfeits]
    for kind, turns in outcome.turns.items():
        if worst(outcome.ratio(kind)) >= MOST:
            wrong.append(f"{kind}: p99 is {outcome.ratio(kind)} times what it is in the quiet")
        if not sum(each.sent for each in turns.tallies):
            wrong.append(f"{kind}: nothing was sent")
    if _grown(outcome) >= MOST_MEMORY:
        wrong.append(f"the server's memory is {_grown(outcome):.2f} times what it was while they were silent")
    return wrong


def _grown(outcome: Outcome) -> float:
    return max(after / before for turns in outcome.turns.values() for before, after in turns.memory)


def section(outcome: Outcome, seconds: float, clients: int) -> Section:
    """What is written to the results."""
    rows = [_row(kind, turns, outcome.ratio(kind)) for kind, turns in outcome.turns.items()]
    kind = max(outcome.turns, key=lambda each: worst(outcome.ratio(each)))
    steady = max(outcome.turns, key=lambda each: outcome.ratio(each).median)
    ratio, apart = outcome.ratio(kind), server_cores() != load_cores()
    inside = outcome.turns[kind].inside[ratio.values.index(worst(ratio))]
    grown = _grown(outcome)
    return Section(
        "Honest bots beside strangers who keep within all limits",
        f"{BOTS} honest bots play {RATE:.0f} moves a second in all, on a server with its default limits. In each round "
        f"{clients} clients of each of {ADDRESSES} addresses send one kind of request as often as the limits allow, for "
        f"{seconds:g} s after a quiet time as long in which they are connected and silent; their addresses have saved up all "
        "the work that they may ask for. p99 of a move, from its sending to its acknowledgement as the bot sees it; *in "
        f"the server* from arrival to announcement. *Ratio* is to {outcome.quiet:.1f} ms, the median of all quiet times: p99 of so short a "
        "time alone is off by half, and one hiccup of the machine makes it a hundred. So a kind whose first ratio is "
        f"{NEAR} or more has {MORE_ROUNDS} more rounds, the {MOST_NEAR} worst of them, and the worst round counts. "
        "CPU is that of the server, of one core; the strangers run on the same machine, "
        + (
            "on cores of their own. "
            if apart
            else f"where they share {len(load_cores())} cores with the bots and their server, and get as much of them as these. "
        )
        + "*Refused* are `rate_limited` and 429, *lost* connections that the server ended or did not let in.",
        [
            "request",
            "p99 ms quiet",
            "hostile",
            "ratio",
            "in the server",
            "CPU",
            "sent",
            "answered",
            "refused",
            "lost",
            "MiB",
        ],
        rows,
        note=f"The server had {outcome.memory / 2**20:.0f} MiB before the first round, without a stranger.",
        claims=[
            claim(
                "p99 of honest bots beside strangers who keep within all limits, the worst kind of request",
                f"less than {MOST:g} × that without",
                f"{short(worst(ratio))} ×, by `{kind}`, in a round in which it was {short(inside)} × in the server; the worst "
                f"median is {short(outcome.ratio(steady).median)} ×, by `{steady}`",
            ),
            claim(
                "memory of the server, in the worst round, against the strangers silent",
                f"less than {MOST_MEMORY} ×",
                f"{grown:.2f} ×",
            ),
        ],
    )


def _row(kind: str, turns: Turns, ratio: Ratio) -> list[str]:
    cpu = (statistics.median(each.cpu for each in some) for some in (turns.quiet, turns.hostile))
    return [
        f"`{kind}`" if ", " not in kind else "`{}`, {}".format(*kind.split(", ", 1)),
        f"{statistics.median(each.p99 for each in turns.quiet):.1f}",
        f"{statistics.median(each.p99 for each in turns.hostile):.1f}",
        str(ratio) if len(ratio.values) > 1 else short(ratio.median),
        short(statistics.median(turns.inside)),
        " → ".join(f"{each:.0%}" for each in cpu),
        *(
            f"{sum(getattr(each, name) for each in turns.tallies):,}"
            for name in ("sent", "answered", "refused", "lost")
        ),
        " → ".join(f"{each / 2**20:.0f}" for each in turns.memory[-1]),
    ]
