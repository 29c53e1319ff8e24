"""Rounds of honest play beside hostile clients (strangers), and their figures.

A round has a quiet period, in which the strangers are silent, and a hostile period, in which they send one kind of request.
The ratio of a round is a figure of its hostile period (such as the p99 of delays), divided by the median of the same figure
over the quiet periods of the round and of the rounds next to it. In the kind SILENT_CONTROL_KIND the strangers are always
silent, so its ratios show the error of the measurement.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import statistics
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

from benchmarks.hostile.honest import HONEST_BOT_NAMES, HonestFigures, make_honest_bots, measure_honest_bots
from benchmarks.hostile.initial_store import create_initial_store
from benchmarks.hostile.kinds import (
    ALL_ATTACKS_KIND,
    ATTACKER_COUNT,
    HOUSE_BOT_NAME,
    REQUEST_KINDS,
    SILENT_CONTROL_KIND,
)
from benchmarks.hostile.stranger import TrafficCounts
from benchmarks.hostile.stranger_process import RequestJob, run_strangers
from benchmarks.kit.load import LoadCounters, run_bots
from benchmarks.kit.load_processes import SPAWN_CONTEXT
from benchmarks.kit.measure import MeasuredRatio, format_markdown_table, format_up_to_two_decimals
from benchmarks.kit.results import format_verdict
from benchmarks.kit.running_server import RunningServer, run_server
from benchmarks.kit.scripted_match import SCRIPTED_MATCH_MAP
from testkit import attackers

MEASUREMENT_PERIOD_SECONDS = 2.5
"""Length of a quiet or hostile period, in seconds. Honest bots play 750 moves in it."""
BASELINE_ROUNDS_ON_EACH_SIDE = 8
"""Number of rounds before a round, and after it, whose quiet periods also enter the baseline of that round.

The baseline is the median over 17 quiet periods, with a standard error of 4 %. The p99 of a single period has a standard
error of 13 %.
"""
STRANGER_ADDRESS_COUNT = 10
"""Number of addresses from which strangers connect."""
CLIENTS_PER_ADDRESS = 8
"""Number of strangers' clients at each address."""
MAX_PARALLEL_MATCHES = 1000
"""Limit on parallel matches that the server is started with, so high that no bot has to wait until another match ends."""
MAX_P99_RATIO = 2.0
"""Upper bound of a round's ratio of hostile p99 to quiet baseline. A kind of request fails if two rounds reach the bound."""
MAX_MEDIAN_P99_RATIO = 1.5
"""Upper bound of the median, over all rounds of a kind of request, of the ratio of hostile p99 to quiet baseline."""
FigureName = Literal["median_batch_p99_ms", "overall_p99_ms"]
"""Name of the field of `HonestFigures` whose value in a hostile period is divided by its value in quiet periods."""
ROUND_COUNT, EXTRA_ROUND_COUNT = 3, 4
"""Number of rounds of every kind, and of further rounds if hostile p99 / quiet p99 reaches MAX_MEDIAN_P99_RATIO in a round."""
MAX_KINDS_TO_REPEAT = 12
"""Maximum number of kinds that get further rounds. The kinds with the highest ratios come first."""
MAX_MEMORY_RATIO = 1.2
"""Upper bound of the server's memory at the end of a hostile period, divided by its memory before the round."""
MAX_STORED_SESSIONS = 1_000
"""Upper bound of the sessions in the store. A client has a session while it is connected, and for 30 s after it has played."""
SERVER_RECOVERY_PAUSE_SECONDS = 0.4
"""Pause before a quiet and after a hostile period, in seconds, in which the server finishes its work for the strangers."""
REAL_TIME_SCHEDULING_POLICY = os.SCHED_RR | os.SCHED_RESET_ON_FORK
"""Scheduling policy of the server's and the honest bots' threads. Processes that they start do not inherit it."""
ATTACKED_NAME = "victim"
"""Name of the bot whose token the attackers try to guess."""
MAX_ATTACKER_CONNECTION_SECONDS = 8.0
"""Seconds within which the server must disconnect an attacker.

Three delays add up. The server reads clients without a match one after another, so it takes up to 2 s until it has read
more from an attacker than its limits allow. The server's time limits for a hello, a full buffer and the closing handshake are
about 2 s each. And an attacker that reads slowly notices the end of its connection late.

The limit does not hold for ALL_ATTACKS_KIND: the server then reads so little from each of six addresses that even a flood
may stay below its limits. Data that is not read costs the server nothing.
"""
ATTACK_SECONDS = MAX_ATTACKER_CONNECTION_SECONDS + 0.5
"""Duration of an attack, in seconds: long enough to see whether all attackers are disconnected."""


@dataclass
class RequestKindMeasurements:
    """Measurements of all rounds of one kind of request.

    quiet_periods: honest bots' figures for all quiet periods on the server, also in rounds of other kinds, in order of time
    hostile_periods: honest bots' figures for each hostile period of this kind
    quiet_indexes: for each period in `hostile_periods`, the index in `quiet_periods` of the quiet period of the same round
    traffic_counts: counts of the requests that the strangers sent, by round
    """

    quiet_periods: list[HonestFigures] = field(default_factory=list)
    hostile_periods: list[HonestFigures] = field(default_factory=list)
    quiet_indexes: list[int] = field(default_factory=list)
    traffic_counts: list[TrafficCounts] = field(default_factory=list)
    memory_bytes_before_and_after: list[tuple[int, int]] = field(default_factory=list)
    """Memory of the server for each hostile period, as (bytes before the round's requests, bytes after the period)."""
    stored_session_counts: list[int] = field(default_factory=list)
    """Number of sessions in the store at the end of each hostile period."""

    def compute_hostile_to_quiet_ratio(
        self, figure_name: FigureName = "median_batch_p99_ms"
    ) -> MeasuredRatio:
        """Return, for each hostile period, the figure `figure_name` divided by its quiet baseline (`compute_quiet_baseline`)."""
        return MeasuredRatio(
            [
                getattr(one_round, figure_name)
                / compute_quiet_baseline(self.quiet_periods, quiet_index, figure_name)
                for one_round, quiet_index in zip(self.hostile_periods, self.quiet_indexes, strict=True)
            ]
        )

    @property
    def median_quiet_p99_ms(self) -> float:
        """Median, over all rounds, of the quiet baseline in ms with which the hostile p99 is compared."""
        return statistics.median(
            compute_quiet_baseline(self.quiet_periods, quiet_index) for quiet_index in self.quiet_indexes
        )

    @property
    def second_highest_p99_ratio(self) -> float:
        """Second highest ratio of a round's hostile p99 to its quiet baseline. A single pause of the machine raises only the
        highest ratio.
        """
        return sorted(self.compute_hostile_to_quiet_ratio().values)[-2:][0]

    @property
    def lowest_overall_p99_ratio(self) -> float:
        """Lowest ratio, over all rounds, of the p99 of all moves in the hostile period to its quiet baseline.

        Pauses of the machine in some of the rounds do not raise this ratio.
        """
        return min(self.compute_hostile_to_quiet_ratio("overall_p99_ms").values)

    @property
    def max_memory_ratio(self) -> float:
        """Largest ratio, over all rounds, of the server's memory at the end of the hostile period to its memory before the
        round.
        """
        return max(after / before for before, after in self.memory_bytes_before_and_after)

    @property
    def median_cpu_share_pair(self) -> tuple[float, float]:
        """Medians, over all rounds, of the server's CPU usage in quiet and in hostile periods, each as a share of one core."""
        quiet_periods = [self.quiet_periods[quiet_index] for quiet_index in self.quiet_indexes]
        return (
            statistics.median(one_round.server_cpu_share for one_round in quiet_periods),
            statistics.median(one_round.server_cpu_share for one_round in self.hostile_periods),
        )

    def sum_traffic_counts(self, field_name: str) -> int:
        """Return the sum over all rounds of the field `field_name` of TrafficCounts."""
        return sum(getattr(tally, field_name) for tally in self.traffic_counts)

    def list_faults(self, kind: str) -> list[str]:
        """Return a line of text for each bound that the rounds, which are of this kind, exceed; none if all is well."""
        ratio = self.compute_hostile_to_quiet_ratio()
        faults = []
        if ratio.median >= MAX_MEDIAN_P99_RATIO:
            faults.append(f"p99 is {ratio} times the quiet one")
        if self.second_highest_p99_ratio >= MAX_P99_RATIO:
            faults.append(
                f"p99 is {format_up_to_two_decimals(self.second_highest_p99_ratio)} times the quiet one or more in two rounds"
            )
        if self.lowest_overall_p99_ratio >= MAX_P99_RATIO:
            faults.append(
                f"p99 of all moves is {format_up_to_two_decimals(self.lowest_overall_p99_ratio)} times the quiet one or more"
            )
        if kind != SILENT_CONTROL_KIND and not self.sum_traffic_counts("request_count"):
            faults.append("nothing was sent")
        if self.max_memory_ratio >= MAX_MEMORY_RATIO:
            faults.append(
                f"memory is {format_up_to_two_decimals(self.max_memory_ratio)} times what it was before"
            )
        if max(self.stored_session_counts) > MAX_STORED_SESSIONS:
            faults.append(f"{max(self.stored_session_counts)} sessions are in the store")
        if not REQUEST_KINDS[kind].is_attack:
            return faults
        for tally in self.traffic_counts:
            if (
                kind != ALL_ATTACKS_KIND
                and tally.longest_connection_seconds > MAX_ATTACKER_CONNECTION_SECONDS
            ):
                faults.append(f"a connection lasted {tally.longest_connection_seconds:.1f} s")
            if tally.lost_connection_count < ATTACKER_COUNT:
                faults.append(f"only {tally.lost_connection_count} connections were cut off")
        return faults


def compute_quiet_baseline(
    quiet_periods: Sequence[HonestFigures], quiet_index: int, figure_name: FigureName = "median_batch_p99_ms"
) -> float:
    """Return the median of the figure `figure_name` over the quiet period at `quiet_index` and the periods next to it.

    BASELINE_ROUNDS_ON_EACH_SIDE quiet periods before that period, and as many after it, are included.
    """
    neighbours = quiet_periods[
        max(0, quiet_index - BASELINE_ROUNDS_ON_EACH_SIDE) : quiet_index + BASELINE_ROUNDS_ON_EACH_SIDE + 1
    ]
    values: list[float] = [getattr(one_round, figure_name) for one_round in neighbours]
    return statistics.median(values)


@dataclass
class RoundResults:
    """Measurements of all rounds, by kind of request, and the counters of the honest bots (`honest_counters`)."""

    measurements_by_kind: dict[str, RequestKindMeasurements] = field(default_factory=dict)
    honest_counters: LoadCounters = field(default_factory=LoadCounters)


@contextmanager
def _run_strangers_process(url: str, tokens: dict[str, str]) -> Iterator[Connection]:
    """Run the process of strangers (hostile clients) until the end of the `with` block, and yield a pipe to the process.

    The pipe takes each job (`RequestJob`) and the signal to start. It returns the counts of the requests that were sent.
    """
    pipe, other_end = SPAWN_CONTEXT.Pipe()
    process = SPAWN_CONTEXT.Process(target=run_strangers, args=(url, tokens, other_end), daemon=True)
    process.start()
    other_end.close()
    try:
        yield pipe
    finally:
        process.kill()
        process.join()


def set_real_time_priority(pid: int) -> None:
    """Give the threads of a process real-time priority. Raises PermissionError if this process may not do that."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setscheduler(int(thread.name), REAL_TIME_SCHEDULING_POLICY, os.sched_param(1))


async def run_all_rounds(folder: str, kinds: list[str]) -> RoundResults:
    """Run the rounds of these kinds, and further rounds of kinds in which honest bots were delayed.

    folder: folder for the servers' stores
    """
    stranger_names = [
        f"stranger {number:03}" for number in range(STRANGER_ADDRESS_COUNT * CLIENTS_PER_ADDRESS)
    ]
    results = RoundResults()
    for number, server_options in enumerate(sorted({REQUEST_KINDS[kind].server_options for kind in kinds})):
        kinds_on_server = [kind for kind in kinds if REQUEST_KINDS[kind].server_options == server_options]
        database_url = f"sqlite:///{folder}/{number}.db"
        tokens = await create_initial_store(database_url, [*HONEST_BOT_NAMES, *stranger_names, ATTACKED_NAME])
        await _run_rounds(database_url, results, kinds_on_server, tokens, server_options)
    return results


async def _run_rounds(
    database_url: str,
    results: RoundResults,
    kinds: list[str],
    tokens: dict[str, str],
    server_options: tuple[str, ...],
) -> None:
    """Run the rounds of these kinds on one server, and add them to `results`.

    database_url: URL of the server's store
    tokens: tokens of honest bots and strangers, by name
    server_options: further options of `arena serve`
    """
    command = ("arena", "serve", "--port", "PORT", "--map", SCRIPTED_MATCH_MAP, *server_options)
    house = f"--set=house.engines={HOUSE_BOT_NAME.removeprefix('house-')}"
    pool = ("--tc", "60+1", "--set=pool.pause_seconds=0", "--set=pool.openings=none")
    limits = (f"--set=pool.concurrency={MAX_PARALLEL_MATCHES}", "--db", database_url)
    stranger_tokens = {name: token for name, token in tokens.items() if name not in HONEST_BOT_NAMES}
    with run_server(*command, house, *pool, *limits) as server:
        set_real_time_priority(server.process.pid)
        honest_bots = make_honest_bots(server.url, results.honest_counters, tokens)
        async with run_bots(results.honest_counters, honest_bots):
            with _run_strangers_process(server.url, stranger_tokens) as strangers_pipe:
                await asyncio.to_thread(strangers_pipe.recv)
                await asyncio.sleep(MEASUREMENT_PERIOD_SECONDS)
                round_runner = RoundRunner(server, database_url, strangers_pipe, results)
                for _ in range(ROUND_COUNT):
                    for kind in kinds:
                        await round_runner.run_round(kind)
                repeated = list_kinds_to_repeat(results, kinds)
                for _ in range(EXTRA_ROUND_COUNT):
                    for kind in repeated:
                        await round_runner.run_round(kind)


def _count_stored_sessions(database_url: str) -> int:
    with closing(sqlite3.connect(database_url.removeprefix("sqlite:///"))) as store:
        row: tuple[int] = store.execute("SELECT count(*) FROM sessions").fetchone()
    return row[0]


def list_kinds_to_repeat(results: RoundResults, kinds: Iterable[str]) -> list[str]:
    """Return the kinds with a round whose ratio of hostile to quiet p99 is MAX_MEDIAN_P99_RATIO or more.

    At most MAX_KINDS_TO_REPEAT kinds are returned, the kind with the highest ratio first.
    """
    highest = {
        kind: max(results.measurements_by_kind[kind].compute_hostile_to_quiet_ratio().values)
        for kind in kinds
    }
    return sorted(
        (kind for kind in highest if highest[kind] >= MAX_MEDIAN_P99_RATIO),
        key=lambda kind: -highest[kind],
    )[:MAX_KINDS_TO_REPEAT]


class RoundRunner:
    """Runner of rounds on one server: periods in which honest bots play while strangers (hostile clients) send requests.

    In each round, the strangers have addresses that were not used before.
    """

    def __init__(
        self, server: RunningServer, database_url: str, strangers_pipe: Connection, results: RoundResults
    ) -> None:
        self._server = server
        self._database_url = database_url
        self._strangers_pipe = strangers_pipe
        self._results = results
        self._round_number = 0
        self._quiet_periods: list[HonestFigures] = []

    async def run_round(self, kind: str) -> None:
        """Run a round: a quiet period, then a hostile one, in which strangers (hostile clients) send this kind of request."""
        rounds = self._results.measurements_by_kind.setdefault(
            kind, RequestKindMeasurements(self._quiet_periods)
        )
        seconds, address_count, clients = (
            MEASUREMENT_PERIOD_SECONDS,
            STRANGER_ADDRESS_COUNT,
            CLIENTS_PER_ADDRESS,
        )
        if REQUEST_KINDS[kind].is_attack:
            seconds, clients = ATTACK_SECONDS, ATTACKER_COUNT
            address_count = len(attackers.ATTACK_BY_KIND) if kind == ALL_ATTACKS_KIND else 1
        self._round_number += 1
        subnet = f"127.{20 + self._round_number // 250}.{self._round_number % 250}"
        sources = [f"{subnet}.{address}" for address in range(1, 1 + address_count) for _ in range(clients)]
        self._strangers_pipe.send(RequestJob(kind, sources, seconds))
        await asyncio.to_thread(self._strangers_pipe.recv)
        await asyncio.sleep(SERVER_RECOVERY_PAUSE_SECONDS)
        self._quiet_periods.append(
            await measure_honest_bots(self._server, self._results.honest_counters, MEASUREMENT_PERIOD_SECONDS)
        )
        before = self._server.memory_bytes
        self._strangers_pipe.send("go")
        rounds.hostile_periods.append(
            await measure_honest_bots(self._server, self._results.honest_counters, MEASUREMENT_PERIOD_SECONDS)
        )
        rounds.quiet_indexes.append(len(self._quiet_periods) - 1)
        rounds.memory_bytes_before_and_after.append((before, self._server.memory_bytes))
        rounds.stored_session_counts.append(
            await asyncio.to_thread(_count_stored_sessions, self._database_url)
        )
        print(
            f"{kind}: {self._quiet_periods[-1]} -> {rounds.hostile_periods[-1]}, {rounds.memory_bytes_before_and_after[-1][1] / 2**20:.0f} MiB, "
            f"{rounds.stored_session_counts[-1]} sessions in the store",
            flush=True,
        )
        rounds.traffic_counts.append(await asyncio.to_thread(self._strangers_pipe.recv))
        await asyncio.sleep(SERVER_RECOVERY_PAUSE_SECONDS)


def list_faults(results: RoundResults) -> list[str]:
    """Return a line of text for each failure in all rounds: errors and forfeits of honest bots, and exceeded bounds."""
    faults = [f"an honest bot was told {error}" for error in results.honest_counters.errors]
    faults += [
        f"an honest bot's match ended by {forfeit}" for forfeit in results.honest_counters.forfeit_reasons
    ]
    for kind, rounds in results.measurements_by_kind.items():
        faults += [f"{kind}: {fault}" for fault in rounds.list_faults(kind)]
    return faults


def format_figures_by_name(results: RoundResults) -> dict[str, str]:
    """Return the texts to write into SERVER.md, by the name of their placeholder."""
    cpu_shares = {kind: rounds.median_cpu_share_pair for kind, rounds in results.measurements_by_kind.items()}
    cpu_increase, costliest_kind = max(
        (hostile - quiet, kind) for kind, (quiet, hostile) in cpu_shares.items()
    )
    max_memory_ratio = max(rounds.max_memory_ratio for rounds in results.measurements_by_kind.values())
    most_sessions = max(max(rounds.stored_session_counts) for rounds in results.measurements_by_kind.values())
    headings = ["request", "p99 ms quiet", "hostile", "ratio", "all moves"]
    headings += ["CPU", "sent", "answered", "refused", "lost", "MiB"]
    return {
        "hostile.table": format_markdown_table(
            headings, [_make_table_row(kind, rounds) for kind, rounds in results.measurements_by_kind.items()]
        ),
        "hostile.sessions": str(most_sessions),
        "hostile.cpu": (
            f"{_make_row_title(costliest_kind)}: compared with the quiet periods, the server used an extra "
            f"{cpu_increase:.0%} of a core"
        ),
        **_make_verdict_texts(results),
        "hostile.growth": format_verdict(
            f"{max_memory_ratio:.2f} ×", is_bound_kept=max_memory_ratio < MAX_MEMORY_RATIO
        ),
    }


def _make_verdict_texts(results: RoundResults) -> dict[str, str]:
    """Return texts that compare the delays of honest bots with their bounds, by the name of the placeholder in SERVER.md.

    There is one text for requests within the limits, and one for attacks.
    """
    attacks = {
        kind: rounds for kind, rounds in results.measurements_by_kind.items() if REQUEST_KINDS[kind].is_attack
    }
    requests = {
        kind: rounds
        for kind, rounds in results.measurements_by_kind.items()
        if kind not in {SILENT_CONTROL_KIND, *attacks}
    }
    verdicts = {}
    for placeholder, kinds in (("hostile.ratio requests", requests), ("hostile.ratio attacks", attacks)):
        if not kinds:
            continue
        repeated_kind = max(kinds, key=lambda name: kinds[name].second_highest_p99_ratio)
        median_kind = max(kinds, key=lambda name: kinds[name].compute_hostile_to_quiet_ratio().median)
        repeated, median = (
            kinds[repeated_kind].second_highest_p99_ratio,
            kinds[median_kind].compute_hostile_to_quiet_ratio().median,
        )
        highest = max(max(rounds.compute_hostile_to_quiet_ratio().values) for rounds in kinds.values())
        verdicts[placeholder] = format_verdict(
            f"at worst a median of {format_up_to_two_decimals(median)} (`{median_kind}`), a second highest ratio of "
            f"{format_up_to_two_decimals(repeated)} (`{repeated_kind}`), and a single round of {format_up_to_two_decimals(highest)}",
            is_bound_kept=median < MAX_MEDIAN_P99_RATIO and repeated < MAX_P99_RATIO,
        )
    return verdicts


def _make_row_title(kind: str) -> str:
    return f"`{kind}`" if ", " not in kind else "`{}`, {}".format(*kind.split(", ", 1))


def _make_table_row(kind: str, rounds: RequestKindMeasurements) -> list[str]:
    return [
        _make_row_title(kind),
        f"{rounds.median_quiet_p99_ms:.1f}",
        f"{statistics.median(one_round.median_batch_p99_ms for one_round in rounds.hostile_periods):.1f}",
        str(rounds.compute_hostile_to_quiet_ratio()),
        format_up_to_two_decimals(rounds.lowest_overall_p99_ratio),
        " → ".join(f"{share:.0%}" for share in rounds.median_cpu_share_pair),
        *(
            f"{rounds.sum_traffic_counts(field_name):,}"
            for field_name in ("request_count", "answer_count", "rate_limited_count", "lost_connection_count")
        ),
        " → ".join(f"{size / 2**20:.0f}" for size in rounds.memory_bytes_before_and_after[-1]),
    ]
