"""Rounds of honest play, alternately without and with strangers who send one kind of request, and their report."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import statistics
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from arena.server.edge.connection import CLOSE_SECONDS
from benchmarks.hostile.honest import (
    BOTS,
    HONEST_NAMES,
    MOVES_PER_RUN,
    RATE,
    WindowFigures,
    measure_window,
    start_honest_bots,
)
from benchmarks.hostile.kinds import (
    ALL_ATTACKS,
    ATTACKERS,
    CONTROL_KINDS,
    HELLO_SECONDS,
    HOUSE,
    KINDS,
    choose_control,
)
from benchmarks.hostile.seeds import fill_store
from benchmarks.hostile.stranger import TrafficCounts
from benchmarks.kit.load import Load, wait_until_all_connected
from benchmarks.kit.measure import Ratio, Section, format_short
from benchmarks.kit.results import format_claim
from benchmarks.kit.running_server import (
    ROOT,
    RunningServer,
    fetch_histogram,
    load_cores,
    pin_to_cores,
    run_server,
    server_cores,
)
from benchmarks.kit.script import MAP
from testkit import horde

SECONDS = 3.5
"""Length of each hostile period, in seconds: 1,050 honest moves. All kinds take a quarter of an hour."""
QUIET_SECONDS = 1.5
"""Length of the quiet period before each hostile one, in seconds."""
ADDRESSES = 10
CLIENTS = 8
"""Number of clients of each address."""
MATCHES = 1000
"""Limit on the server's parallel matches: so high that no bot has to wait for one to end."""
MAX_RATIO = 2.0
"""Maximum ratio of honest bots' p99 in any round to that in the control's worst round."""
MAX_MEDIAN_RATIO = 1.5
"""Maximum ratio of honest bots' p99 in the median of a kind's rounds to that of the control."""
Figure = Literal["p99", "whole", "inside"]
"""Field of `WindowFigures`."""
Summary = Callable[[Sequence[float]], float]
"""Function that returns one value from those of several rounds, such as their median."""
MORE_ROUNDS = 4
CONTROL_ROUNDS = 5
LONG_SECONDS = 60.0
"""Length of a hostile period, in seconds, from which on one round of each kind and each control is enough."""
MAX_REPEATED_KINDS = 15
"""Number of kinds that get more rounds, highest ratios first."""
MAX_MEMORY = 1.2
MAX_SESSIONS = 1_000
"""Largest number of sessions in the store: connected names, and names that played within the last 30 s."""
SETTLE_SECONDS = 0.5
VICTIM = "victim"
"""Name whose token attackers guess."""
MAX_SECONDS = 8.0
"""Maximum lifetime of an attacker's connection, in seconds.

It includes the time limit for the hello or for a full buffer, the closing handshake, and up to two seconds until the
attacker notices, because many attackers poll slowly.
"""
MIN_ATTACK_SECONDS = {
    "attack: slow-loris": HELLO_SECONDS + CLOSE_SECONDS + 1,
    "attack: never-reading": 8.5,
    ALL_ATTACKS: 8.5,
}
"""Shortest duration of an attack, in seconds. By then the server has cut off the slowest connections."""


@dataclass
class KindRounds:
    """Measurements of all rounds of one kind of request."""

    quiet: list[WindowFigures] = field(default_factory=list)
    hostile: list[WindowFigures] = field(default_factory=list)
    tallies: list[TrafficCounts] = field(default_factory=list)
    memory: list[tuple[int, int]] = field(default_factory=list)
    """Memory of the server in bytes, for each round: while the strangers are silent, and at the end."""
    sessions: list[int] = field(default_factory=list)
    """Number of sessions in the store at the end of each round."""

    @property
    def mean_requests(self) -> float:
        """Number of requests in a round, on average."""
        return statistics.mean(each.sent for each in self.tallies)

    @property
    def cpu(self) -> float:
        """CPU time of the server that the strangers use, as a share of one core: the median of all rounds."""
        return statistics.median(
            there.cpu - quiet.cpu for there, quiet in zip(self.hostile, self.quiet, strict=True)
        )


@dataclass
class RoundResults:
    """Measurements of all rounds of all kinds."""

    rounds: dict[str, KindRounds] = field(default_factory=dict)
    controls: dict[str, KindRounds] = field(default_factory=dict)
    """Rounds in which the strangers send to a plain server instead of the arena."""
    load: Load = field(default_factory=Load)
    memory: int = 0
    """Memory of the server before the first round, in bytes."""
    collector: float = 0.0
    """Upper bound of the longest garbage collection pause, in seconds."""

    def baseline(self, figure: Figure = "p99") -> float:
        """Return a figure of honest bots in ms: the median of all quiet periods. A single one may be off by half."""
        quiet = [each for turns in self.rounds.values() for each in turns.quiet]
        return float(statistics.median(getattr(each, figure) for each in quiet))

    def ratios(self, turns: KindRounds, figure: Figure = "p99") -> list[float]:
        """Return a figure of honest bots, divided by its baseline, for each round."""
        baseline = self.baseline(figure)
        return [getattr(each, figure) / baseline for each in turns.hostile]

    def ratio(self, kind: str) -> Ratio:
        """Return the ratios of honest bots' p99 during a kind of request."""
        return Ratio(self.ratios(self.rounds[kind]))

    def control_ratio(
        self, kind: str, summarize: Summary = statistics.median, figure: Figure = "p99"
    ) -> float:
        """Return the ratio of a kind's control, as `summarize` chooses it from the rounds; at least 1.

        For a kind with fewer requests than its control, the part above 1 is reduced in proportion.
        """
        turns = self.controls.get(choose_control(KINDS[kind]))
        if turns is None:
            return 1.0
        return 1 + max(0.0, summarize(self.ratios(turns, figure)) - 1) * min(
            1.0, self.rounds[kind].mean_requests / turns.mean_requests
        )

    def ratio_over_control(self, kind: str) -> Ratio:
        """Return the ratios of a kind, divided by the ratio of its control.

        The quotients show how much the server delays honest bots. The delay that the strangers' own CPU time causes, on
        the same machine, is in both ratios and cancels out.
        """
        return Ratio([each / self.control_ratio(kind) for each in self.ratio(kind).values])

    def worst_ratio_over_control(self, kind: str) -> float:
        """Return the ratio of the worst round, divided by that of the worst round of the control."""
        return max(self.ratio(kind).values) / self.control_ratio(kind, max)

    def lowest_all_moves_ratio(self, kind: str) -> float:
        """Return the lowest ratio of the p99 of all moves, divided by the lowest of the control.

        It shows pauses that recur in every round.
        """
        return min(self.ratios(self.rounds[kind], "whole")) / self.control_ratio(kind, min, "whole")


class LineProcess:
    """Process of this benchmark that takes and prints lines of JSON."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._in = cast("asyncio.StreamWriter", process.stdin)
        self._out = cast("asyncio.StreamReader", process.stdout)

    async def send_order(self, content: object) -> None:
        """Write `content` to the process's standard input, as one line of JSON."""
        self._in.write(json.dumps(content).encode() + b"\n")
        await self._in.drain()

    async def read_line(self) -> dict[str, Any]:
        """Return the process's next line. Raises RuntimeError if the process has ended."""
        line = await self._out.readline()
        if not line:
            raise RuntimeError("a process of the benchmark has ended; its output above says why")
        data: dict[str, Any] = json.loads(line)
        return data


@asynccontextmanager
async def _run_process(module: str, *words: str) -> AsyncIterator[LineProcess]:
    """Run a module of this benchmark on the cores for the load, until the end of the block."""
    pipe = asyncio.subprocess.PIPE
    with pin_to_cores(load_cores()):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", module, *words), cwd=ROOT, stdin=pipe, stdout=pipe
        )
    try:
        yield LineProcess(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def play_all_rounds(folder: str, kinds: list[str], seconds: float, clients: int) -> RoundResults:
    """Play a round of every kind, and more rounds of kinds over a bound."""
    playing = [f"stranger {number:03}" for number in range(ADDRESSES * clients)]
    outcome = RoundResults()
    # First the server without further options, whose rounds decide how much the controls are sent.
    for number, options in enumerate(sorted({KINDS[kind].options for kind in kinds})):
        some = [kind for kind in kinds if KINDS[kind].options == options]
        database = f"sqlite:///{folder}/{number}.db"
        tokens = await fill_store(database, [*HONEST_NAMES, *playing, VICTIM])
        await _play_rounds(database, outcome, some, seconds, clients, tokens, options)
    return outcome


async def _play_rounds(
    database: str,
    results: RoundResults,
    kinds: list[str],
    seconds: float,
    clients: int,
    tokens: dict[str, str],
    options: tuple[str, ...],
) -> None:
    """Play the rounds of these kinds on a server of their own with further options."""
    serve = ("arena", "serve", "--port", "PORT", "--map", MAP, *options)
    house = f"--set=house.engines={HOUSE.removeprefix('house-')}"
    pool = ("--tc", "60+1", "--set=pool.pause_seconds=0", "--set=pool.openings=none")
    mine, limits = server_cores(), (f"--set=pool.concurrency={MATCHES}", "--db", database)
    playing = {name: token for name, token in tokens.items() if name not in HONEST_NAMES}
    # The honest bots are in this process, and have the cores of their server.
    with pin_to_cores(mine), run_server(*serve, house, *pool, *limits, cores=mine) as server:
        server.database = database
        async with asyncio.TaskGroup() as tasks:
            bots = start_honest_bots(tasks, server.url, results.load, tokens)
            await wait_until_all_connected(results.load, BOTS)
            async with _run_process("benchmarks.hostile.strangers", server.url) as strangers:
                await strangers.send_order(playing)
                await strangers.read_line()
                await asyncio.sleep(seconds)
                results.memory = results.memory or server.memory_bytes
                rounds = RoundPlayer(server, strangers, results, seconds, clients)
                for kind in kinds:
                    await rounds.play(kind)
                for kind in list_kinds_over_bound(results, kinds) if seconds < LONG_SECONDS else ():
                    for _ in range(MORE_ROUNDS):
                        await rounds.play(kind)
                if not options:
                    async with _run_process("benchmarks.hostile.control") as plain_server:
                        url = f"ws://127.0.0.1:{(await plain_server.read_line())['port']}"
                        for control in CONTROL_KINDS:
                            await rounds.play_control(control, url)
                results.collector = max(
                    results.collector, await asyncio.to_thread(_max_collector_pause, server)
                )
            for bot in bots:
                bot.cancel()


def _max_collector_pause(server: RunningServer) -> float:
    """Return an upper bound of the longest garbage collection pause, in seconds."""
    counts = fetch_histogram(server.url, "arena_collector_seconds")
    return min(bound for bound, count in counts.items() if count == counts[float("inf")])


def _count_sessions(server: RunningServer) -> int:
    """Return the number of sessions in the server's store."""
    with closing(sqlite3.connect(server.database.removeprefix("sqlite:///"))) as store:
        row: tuple[int] = store.execute("SELECT count(*) FROM sessions").fetchone()
    return row[0]


def list_kinds_over_bound(results: RoundResults, kinds: Iterable[str]) -> list[str]:
    """Return the kinds whose first round is over a bound, without the control, highest ratio first."""
    first = {
        kind: max(
            results.ratio(kind).values[0] / MAX_MEDIAN_RATIO,
            results.ratios(results.rounds[kind], "whole")[0] / MAX_RATIO,
        )
        for kind in kinds
    }
    worst = sorted(first, key=lambda kind: -first[kind])
    return [kind for kind in worst if first[kind] >= 1][:MAX_REPEATED_KINDS]


class RoundPlayer:
    """Player of rounds, each from addresses that were not used before."""

    def __init__(
        self,
        server: RunningServer,
        strangers: LineProcess,
        results: RoundResults,
        seconds: float,
        clients: int,
    ) -> None:
        self._server = server
        self._strangers = strangers
        self._results = results
        self._seconds = seconds
        self._clients = clients
        self._number = 0

    async def play(self, kind: str) -> None:
        """Play a quiet period, then a period in which the strangers send requests of this kind."""
        turns = self._results.rounds.setdefault(kind, KindRounds())
        if not KINDS[kind].is_attack:
            await self._play(kind, turns, ADDRESSES, self._clients)
            return
        addresses = len(horde.KINDS) if kind == ALL_ATTACKS else 1
        await self._play(kind, turns, addresses, ATTACKERS, seconds=attack_seconds(kind, self._seconds))

    async def play_control(self, control: str, url: str) -> None:
        """Play rounds of a control, in which a plain server gets as many requests as the arena of the busiest kind."""
        tallies = [
            turns.tallies[0]
            for kind, turns in self._results.rounds.items()
            if choose_control(KINDS[kind]) == control and turns.tallies[0].sent
        ]
        if not tallies:
            return
        busiest = max(tallies, key=lambda each: each.sent)
        size = round(busiest.bytes / busiest.sent)
        pause = ADDRESSES * self._clients * self._seconds / busiest.sent
        turns = self._results.controls.setdefault(control, KindRounds())
        for _ in range(CONTROL_ROUNDS if self._seconds < LONG_SECONDS else 1):
            await self._play(control, turns, ADDRESSES, self._clients, url=f"{url}/{size}", pause=pause)

    async def _play(
        self, kind: str, rounds: KindRounds, addresses: int, clients: int, **more: object
    ) -> None:
        self._number += 1
        order = {
            "kind": kind,
            "addresses": [f"127.{20 + self._number}.0.{place}" for place in range(1, 1 + addresses)],
            "clients": clients,
            "seconds": self._seconds,
            **more,
        }
        await self._strangers.send_order(order)
        await self._strangers.read_line()
        await asyncio.sleep(SETTLE_SECONDS)
        rounds.quiet.append(await measure_window(self._server, self._results.load, QUIET_SECONDS))
        before = self._server.memory_bytes
        await self._strangers.send_order("go")
        rounds.hostile.append(await measure_window(self._server, self._results.load, self._seconds))
        message = await self._strangers.read_line()
        rounds.tallies.append(TrafficCounts(**message))
        rounds.memory.append((before, self._server.memory_bytes))
        rounds.sessions.append(await asyncio.to_thread(_count_sessions, self._server))
        print(
            f"{kind}: {rounds.quiet[-1]} -> {rounds.hostile[-1]}, {message}, {rounds.memory[-1][1] / 2**20:.0f} MiB, "
            f"{rounds.sessions[-1]} sessions in the store",
            flush=True,
        )
        await asyncio.sleep(SETTLE_SECONDS)


def attack_seconds(kind: str, seconds: float) -> float:
    """Return the duration of an attack that is measured for `seconds`, in seconds."""
    return max(seconds + SETTLE_SECONDS, MIN_ATTACK_SECONDS.get(kind, 0.0))


def list_faults(results: RoundResults) -> list[str]:
    """Return the failures of all rounds."""
    wrong = [f"an honest bot was told {each}" for each in results.load.errors]
    wrong += [f"an honest bot's match ended by {each}" for each in results.load.forfeits]
    for kind, turns in results.rounds.items():
        ratio = results.ratio_over_control(kind)
        if ratio.median >= MAX_MEDIAN_RATIO:
            wrong.append(f"{kind}: p99 is {ratio} times the control's")
        if results.worst_ratio_over_control(kind) >= MAX_RATIO:
            wrong.append(
                f"{kind}: p99 in the worst round is {format_short(results.worst_ratio_over_control(kind))} times the control's in its worst"
            )
        if results.lowest_all_moves_ratio(kind) >= MAX_RATIO:
            wrong.append(
                f"{kind}: p99 of all moves is {format_short(results.lowest_all_moves_ratio(kind))} times the control's in each round"
            )
        if not sum(each.sent for each in turns.tallies):
            wrong.append(f"{kind}: nothing was sent")
        if max(turns.sessions, default=0) > MAX_SESSIONS:
            wrong.append(f"{kind}: {max(turns.sessions)} sessions are in the store")
        for each in turns.tallies if KINDS[kind].is_attack else ():
            if each.longest > MAX_SECONDS:
                wrong.append(f"{kind}: a connection lasted {each.longest:.1f} s")
            if each.lost < ATTACKERS:
                wrong.append(f"{kind}: only {each.lost} connections were cut off")
    if _memory_growth(results) >= MAX_MEMORY:
        wrong.append(
            f"the server's memory is {_memory_growth(results):.2f} times what it was at the start of the round"
        )
    return wrong


def _memory_growth(results: RoundResults) -> float:
    return max(after / before for turns in results.rounds.values() for before, after in turns.memory)


def make_section(results: RoundResults, seconds: float, clients: int) -> Section:
    """Return the section of the report."""
    rows = [_make_row(kind, results.rounds[kind], results) for kind in results.rounds]
    rows += [_make_row(kind, turns, results) for kind, turns in results.controls.items()]
    greedy = max(results.rounds, key=lambda each: results.rounds[each].cpu)
    quiet = [each.p99 for turns in results.rounds.values() for each in turns.quiet]
    whole = [each.whole for turns in results.rounds.values() for each in turns.quiet]
    growth = _memory_growth(results)
    return Section(
        "Honest bots while strangers use all limits",
        f"This section shows how much strangers can delay honest bots. {BOTS} honest bots play {RATE:.0f} moves a second in total, "
        f"on a server with default limits. *Strangers* are {clients} clients on each of {ADDRESSES} addresses. In each round they "
        f"first stay connected and silent for {QUIET_SECONDS:g} s (*quiet*). Then they send one kind of request for {seconds:g} s, "
        "as often as the limits allow (*hostile*). Each address starts with a full budget.\n\n"
        "- *p99 ms* measures the time from sending a move to its acknowledgement, as the bot sees it. It is a median: that of the "
        f"p99 of each {MOVES_PER_RUN} consecutive moves, which take a third of a second. A pause of the machine changes only one or two of "
        "these p99. The strangers change all of them, because the server handles their requests at a limited rate.\n"
        f"- *Ratio* is the hostile p99 divided by {results.baseline():.1f} ms, the median of all quiet p99. The greatest quiet p99 is "
        f"{format_short(max(quiet) / results.baseline())} × this median. A kind of request whose first ratio is {MAX_MEDIAN_RATIO:g} or more "
        f"gets {MORE_ROUNDS} more rounds (at most the {MAX_REPEATED_KINDS} worst kinds do).\n"
        "- *Over control* is the ratio divided by that of a control round (the last rows), if that is above 1. In a control round, "
        "the strangers send their requests to a plain server that does nothing else, as often as those of the busiest kind, and "
        "with answers as large. So a control round shows the cost of the strangers' own process, which real strangers do not run "
        "on the server's machine. For a kind with fewer requests, the part of the control's ratio above 1 is reduced in "
        "proportion. The worst round of a kind is compared with the worst round of the control, and the median with the median.\n"
        "- *All moves* is the ratio for the p99 of all moves of a round together. The median of all quiet times is "
        f"{results.baseline('whole'):.1f} ms, and the greatest is {format_short(max(whole) / results.baseline('whole'))} × this median, "
        "because a single pause of 30 ms can decide this p99. Pauses that strangers cause occur in every round. So the column "
        "shows the lowest ratio of the kind's rounds, divided by the lowest of the control. A kind whose first ratio is "
        f"{MAX_RATIO:g} or more gets more rounds too.\n"
        "- *In the server* is the ratio for the time from the arrival of a move at the server to its announcement, over all moves. "
        "It is left out if the strangers move too: it would include their moves, which wait in a queue.\n"
        "- *CPU* is the share of one core that the server uses. The strangers run on the same machine, "
        + (
            "on separate cores, "
            if server_cores() != load_cores()
            else f"share {len(load_cores())} cores with the bots and the server, "
        )
        + "and have the lowest priority (SCHED_IDLE).\n"
        "- *Refused* counts `rate_limited` and 429. *Lost* counts connections that the server closed or did not accept.\n"
        f"- In the rows *attack*, {ATTACKERS} attackers on one address break the limits, and reconnect at once when they are "
        "disconnected. In *all at once*, there are as many attackers of each kind. *Sent* counts the attackers' connections. The "
        f"server allows {HELLO_SECONDS:g} s for a hello.",
        [
            "request",
            "p99 ms quiet",
            "hostile",
            "ratio",
            "over control",
            "all moves",
            "in the server",
            "CPU",
            "sent",
            "answered",
            "refused",
            "lost",
            "MiB",
        ],
        rows,
        note=f"The server used {results.memory / 2**20:.0f} MiB before the first round, without strangers. The longest "
        f"pause for Python's garbage collector was shorter than {1000 * results.collector:g} ms, and the store never had more than "
        f"{max(max(turns.sessions) for turns in results.rounds.values())} sessions at the end of a round. The requests of strangers "
        f"took at most {results.rounds[greedy].cpu:.0%} of a core in the server, with `{greedy}`.",
        claims=[
            *_make_claims(results),
            format_claim(
                "memory of the server at the end of a round of requests, compared with the start of the round, worst round",
                f"less than {MAX_MEMORY} ×",
                f"{growth:.2f} ×",
            ),
        ],
    )


def _make_claims(results: RoundResults) -> Iterator[str]:
    """Yield the promised and measured delays of honest bots, by requests within the limits and by attacks."""
    attacks = [kind for kind in results.rounds if KINDS[kind].is_attack]
    requests = [kind for kind in results.rounds if kind not in attacks]
    for what, kinds in (
        ("strangers use all that the limits allow, worst kind of request", requests),
        ("attackers break the limits, worst attack", attacks),
    ):
        if not kinds:
            continue
        kind = max(kinds, key=results.worst_ratio_over_control)
        steady = max(kinds, key=lambda each: results.ratio_over_control(each).median)
        yield format_claim(
            f"p99 of honest bots while {what}",
            f"in the worst round less than {MAX_RATIO:g} × that of the control, and in the median of the rounds less than "
            f"{MAX_MEDIAN_RATIO:g} ×",
            f"{format_short(results.worst_ratio_over_control(kind))} × in the worst round, with `{kind}`, and "
            f"{format_short(results.ratio_over_control(steady).median)} × in the worst median, with `{steady}`; compared with the quiet times "
            f"instead of the control, {format_short(max(max(results.ratio(each).values) for each in kinds))} × and "
            f"{format_short(max(results.ratio(each).median for each in kinds))} ×",
        )


def _make_row(kind: str, rounds: KindRounds, results: RoundResults) -> list[str]:
    cpu = (statistics.median(each.cpu for each in some) for some in (rounds.quiet, rounds.hostile))
    ratio = Ratio(results.ratios(rounds))
    inside = statistics.median(results.ratios(rounds, "inside"))
    return [
        f"`{kind}`" if ", " not in kind else "`{}`, {}".format(*kind.split(", ", 1)),
        f"{statistics.median(each.p99 for each in rounds.quiet):.1f}",
        f"{statistics.median(each.p99 for each in rounds.hostile):.1f}",
        _format_ratio(ratio),
        _format_ratio(results.ratio_over_control(kind)) if kind in KINDS else "",
        format_short(
            results.lowest_all_moves_ratio(kind) if kind in KINDS else min(results.ratios(rounds, "whole"))
        ),
        "" if kind in KINDS and KINDS[kind].makes_moves else format_short(inside),
        " → ".join(f"{each:.0%}" for each in cpu),
        *(
            f"{sum(getattr(each, name) for each in rounds.tallies):,}"
            for name in ("sent", "answered", "refused", "lost")
        ),
        " → ".join(f"{each / 2**20:.0f}" for each in rounds.memory[-1]),
    ]


def _format_ratio(ratio: Ratio) -> str:
    return str(ratio) if len(ratio.values) > 1 else format_short(ratio.median)
