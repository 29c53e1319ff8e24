"""Failures in a cluster during play, injected one after another, and the time for which each interrupts the matches.

No move may be lost. A kind of failure in FAULT_KINDS consists of a target (`core`, `edge`, `nats` or `postgresql`) and one
of these faults:

kill    the process is killed, and later started again
freeze  the process is suspended, and later resumed
bus     the process loses its connection to NATS for a while
store   the process loses its connection to PostgreSQL for a while
power   the process ends without notice to PostgreSQL and NATS, as in a power cut, and is later started again
split   the process loses both connections for a while
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import asyncpg

from testkit.cluster import Cluster
from testkit.nats_server import NatsServer
from testkit.players import RandomPlayer
from testkit.server_kills import CrashTestResult, compare_messages_with_store
from testkit.server_process import ServerProcess

CORE_FAULT_KINDS = ("core kill", "core freeze", "core bus", "core store", "core power", "core split")
EDGE_FAULT_KINDS = ("edge kill", "edge freeze", "edge bus", "edge split")
SERVICE_FAULT_KINDS = ("nats kill", "nats freeze", "postgresql freeze")
FAULT_KINDS = (*CORE_FAULT_KINDS, *EDGE_FAULT_KINDS, *SERVICE_FAULT_KINDS)
"""All kinds of failure, each as "TARGET FAULT", such as `core kill`. The module's docstring describes them."""
POLL_INTERVAL_SECONDS = 0.02
"""Seconds between two checks whether a condition holds for which this module waits, such as a ready process."""
MAX_RECOVERY_SECONDS = 150.0
"""Seconds after a failure within which a match must continue. Otherwise, the match counts as stuck."""
MIN_AND_MAX_FAULT_DURATION_SECONDS = (1.0, 6.0)
"""Shortest and longest duration of a temporary failure, in seconds."""
MAX_SERVICE_OUTAGE_SECONDS = 2.0
"""Maximum duration, in seconds, of a failure of NATS or PostgreSQL that a test causes. Meanwhile no match of the cluster continues."""
MAX_SECONDS_TO_CONNECT_BOTS = 200.0
"""Seconds within which 80 % of the bots must play before the next failure. Otherwise, the run counts as failed."""
MAX_SECONDS_TO_FINISH_MATCHES = 200.0
"""Seconds for which the matches in progress may continue at the end of a run."""
MATCHES_IN_PROGRESS_QUERY = "SELECT match FROM matches WHERE finished IS NULL"
"""Query for the ids of the matches that have not ended."""


@dataclass
class ClusterFault:
    """Injected failure in a cluster, and how long it interrupted matches.

    kind: name in FAULT_KINDS
    failed_process_name: name of the failed process; `nats` or `postgresql` for these servers
    """

    kind: str
    failed_process_name: str
    duration_seconds: float
    """Duration of a temporary failure, in seconds; 0 if the process is killed (faults `kill` and `power`)."""
    recovery_seconds: list[float] = field(default_factory=list)
    """Seconds from the failure until each match in progress continued; matches that did not continue are left out.

    A match has continued when one of its bots has received a message, or when the match is over.
    """
    stuck_match_count: int = 0
    """Number of matches in progress that did not continue within MAX_RECOVERY_SECONDS."""


@dataclass
class FaultReport:
    """All injected failures, and the result of the final comparison of the bots' messages with the store."""

    injected_faults: list[ClusterFault] = field(default_factory=list)
    crash_test_result: CrashTestResult = field(default_factory=CrashTestResult)


def make_cluster_players(
    edges: Sequence[ServerProcess],
    player_count: int,
    draw_think_seconds: Callable[[], float],
    keepalive_seconds: float = 2.0,
) -> list[RandomPlayer]:
    """Return `player_count` bots, which start at different edges of a cluster. A bot that loses its edge connects to the next
    edge.

    draw_think_seconds: function that returns the thinking time before a move, in seconds
    keepalive_seconds: seconds between two pings of a bot, and maximum wait for the answer to each
    """
    urls = [edge.url for edge in edges]
    players = []
    for number in range(player_count):
        first = number % len(urls)
        others = (*urls[first + 1 :], *urls[:first])
        players.append(
            RandomPlayer(
                urls[first],
                f"bot {number}",
                draw_think_seconds,
                fallback_urls=others,
                keepalive_seconds=keepalive_seconds,
            )
        )
    return players


EndFault = Callable[[], object]
"""Function that ends a failure, for example resumes a suspended process."""


@dataclass
class FaultInjector:
    """Injector of failures into a running cluster. The random generator `rng` chooses their targets and durations."""

    cluster: Cluster
    nats: NatsServer
    list_postgresql_pids: Callable[[], list[int]]
    """Function that returns the current process ids of PostgreSQL, which runs one process for each connection."""
    rng: random.Random

    async def inject_fault(self, fault_kind: str, players: Sequence[RandomPlayer]) -> ClusterFault:
        """Cause a failure of a kind in FAULT_KINDS, wait until all matches in progress continue, and repair the failure.

        A failure of NATS or PostgreSQL is repaired before the wait, because no match can continue without them. Return
        the failure, with the time until each match continued.
        """
        target, _, fault = fault_kind.partition(" ")
        duration_seconds = self.rng.uniform(*MIN_AND_MAX_FAULT_DURATION_SECONDS)
        if target in ("nats", "postgresql"):
            duration_seconds = min(duration_seconds, MAX_SERVICE_OUTAGE_SECONDS)
        failing_process = await self._choose_failing_process(target)
        matches = await list_matches_in_progress(self.cluster.database_url)
        fault_time = time.monotonic()
        end_fault = await asyncio.to_thread(self._begin_fault, target, fault, failing_process)
        is_permanent = fault in ("kill", "power")
        cluster_fault = ClusterFault(
            fault_kind,
            failing_process.name if failing_process else target,
            0.0 if is_permanent else duration_seconds,
        )
        if target in ("nats", "postgresql"):
            await asyncio.sleep(duration_seconds)
            await asyncio.to_thread(end_fault)
            fault_time = time.monotonic()
        cluster_fault.recovery_seconds = await _measure_recovery_seconds(players, matches, fault_time)
        cluster_fault.stuck_match_count = len(matches) - len(cluster_fault.recovery_seconds)
        if target in ("core", "edge"):
            if not is_permanent:
                await asyncio.sleep(max(0.0, duration_seconds - (time.monotonic() - fault_time)))
            await asyncio.to_thread(end_fault)
        for cluster_member in self.cluster.members:
            await cluster_member.wait_until_ready()
        return cluster_fault

    async def _choose_failing_process(self, target: str) -> ServerProcess | None:
        if target == "core":
            return await self.cluster.wait_for_leader()
        return self.rng.choice(self.cluster.edges) if target == "edge" else None

    def _begin_fault(self, target: str, fault: str, failing_process: ServerProcess | None) -> EndFault:
        """Begin a failure, and return a function that ends it.

        target: `core`, `edge`, `nats` or `postgresql`
        fault: failure of the target, such as `freeze`, as described in this module's docstring
        failing_process: None if the target is NATS or PostgreSQL
        """
        if target == "nats":
            if fault == "kill":
                self.nats.kill()
                return self.nats.start
            os.kill(self.nats.pid, signal.SIGSTOP)
            return lambda: os.kill(self.nats.pid, signal.SIGCONT)
        if failing_process is None:
            process_ids = self.list_postgresql_pids()
            for process in process_ids:
                _send_signal(process, signal.SIGSTOP)

            def resume_all() -> None:
                for process in process_ids:
                    _send_signal(process, signal.SIGCONT)

            return resume_all
        return self._begin_process_fault(failing_process, fault)

    @staticmethod
    def _begin_process_fault(failing_process: ServerProcess, fault: str) -> EndFault:
        match fault:
            case "kill":
                failing_process.kill()
                return failing_process.start
            case "power":
                failing_process.partition_network()
                failing_process.kill()
                return failing_process.heal_network_and_start
            case "freeze":
                failing_process.suspend()
                return failing_process.resume
            case "bus":
                failing_process.bus_forwarder.send_command("cut")
                return lambda: failing_process.bus_forwarder.send_command("mend")
            case "store":
                failing_process.database_forwarder.send_command("cut")
                return lambda: failing_process.database_forwarder.send_command("mend")
            case _:
                failing_process.partition_network()
                return failing_process.heal_network


def _send_signal(pid: int, signal_number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # a process of PostgreSQL ends with its client
        os.kill(pid, signal_number)


async def inject_faults(
    injector: FaultInjector,
    players: Sequence[RandomPlayer],
    fault_kinds: Sequence[str],
    *,
    report_line: Callable[[str], None] = lambda _: None,
) -> FaultReport:
    """Cause failures of these kinds, one after another, while the bots play.

    At the end, finish the matches, stop the cluster, and compare the messages that the bots received with the store.

    report_line: function that is called with a line of text about each failure
    """
    report, cluster, rng = FaultReport(), injector.cluster, injector.rng
    async with asyncio.TaskGroup() as tasks:
        play_tasks = [tasks.create_task(player.run()) for player in players]
        for number, kind in enumerate(fault_kinds):
            await wait_until_most_bots_play(players, report, cluster)
            await asyncio.sleep(rng.uniform(0.0, 2.0))
            cluster_fault = await injector.inject_fault(kind, players)
            report.injected_faults.append(cluster_fault)
            recovered_count = len(cluster_fault.recovery_seconds)
            slowest = max(cluster_fault.recovery_seconds, default=0.0)
            report_line(
                f"{number + 1}: {kind} ({cluster_fault.failed_process_name}, for {cluster_fault.duration_seconds:.1f} s): "
                f"{recovered_count} matches continued, the last within {slowest:.2f} s; {cluster_fault.stuck_match_count} stuck"
            )
        await wait_until_most_bots_play(players, report, cluster)
        for task in play_tasks:
            task.cancel()
    await let_matches_finish(players, cluster.database_url)
    await stop_cluster_and_check_logs(cluster, report.crash_test_result)
    await compare_messages_with_store(cluster.database_url, list(players), set(), report.crash_test_result)
    return report


async def list_matches_in_progress(database_url: str) -> list[str]:
    """Return the ids of the matches that have not ended, from the database at this URL."""
    connection = await asyncpg.connect(database_url)
    try:
        return [row["match"] for row in await connection.fetch(MATCHES_IN_PROGRESS_QUERY)]
    finally:
        await connection.close()


async def _measure_recovery_seconds(
    players: Sequence[RandomPlayer], match_ids: list[str], fault_time: float
) -> list[float]:
    """Wait up to MAX_RECOVERY_SECONDS until the matches `match_ids` continue.

    Return, for each match that continued, the seconds from `fault_time` (monotonic) until one of its bots received a message,
    or until the match was seen to be over.
    """
    seconds: dict[str, float] = {}
    end_time = time.monotonic() + MAX_RECOVERY_SECONDS
    while len(seconds) < len(match_ids) and time.monotonic() < end_time:
        for match_id in match_ids:
            if match_id in seconds:
                continue
            message_times = [
                player.last_message_time_by_match[match_id]
                for player in players
                if match_id in player.last_message_time_by_match
            ]
            is_over = any(match_id in player.received_ends for player in players)
            if is_over or (message_times and max(message_times) > fault_time + POLL_INTERVAL_SECONDS):
                seconds[match_id] = max(max(message_times, default=time.monotonic()) - fault_time, 0.0)
        await asyncio.sleep(POLL_INTERVAL_SECONDS)
    return list(seconds.values())


async def wait_until_most_bots_play(
    players: Sequence[RandomPlayer], report: FaultReport, cluster: Cluster
) -> None:
    """Wait until 80 % of the bots play. The others may still be connecting: failures must do no harm to connecting bots either.

    If the wait takes longer than MAX_SECONDS_TO_CONNECT_BOTS, add a fault to the report and return.
    """
    end_time = time.monotonic() + MAX_SECONDS_TO_CONNECT_BOTS
    while sum(bool(player.last_message_time_by_match) for player in players) < len(players) * 8 // 10:
        if time.monotonic() > end_time:
            report.crash_test_result.faults.append(
                f"{sum(bool(player.last_message_time_by_match) for player in players)} of {len(players)} bots play:\n"
                + "\n".join(log.read_text()[-1000:] for log in cluster.list_log_files())
            )
            return
        await asyncio.sleep(POLL_INTERVAL_SECONDS)


async def let_matches_finish(players: Sequence[RandomPlayer], database_url: str) -> None:
    """Let the matches in progress finish, and start no new matches. Wait up to MAX_SECONDS_TO_FINISH_MATCHES."""
    async with asyncio.TaskGroup() as tasks:
        last_tasks = [tasks.create_task(player.run(quota=0)) for player in players]
        end_time = time.monotonic() + MAX_SECONDS_TO_FINISH_MATCHES
        while await list_matches_in_progress(database_url) and time.monotonic() < end_time:  # noqa: ASYNC110  the store tells nobody
            await asyncio.sleep(0.2)
        # The players get the end of a match only after it is in the store.
        await asyncio.sleep(2.0)
        for task in last_tasks:
            task.cancel()


async def stop_cluster_and_check_logs(cluster: Cluster, result: CrashTestResult) -> None:
    """Stop all processes with SIGTERM, edges (which hold the connections) first.

    A bad exit code and a traceback in a log are added to `result.faults`.
    """
    for member in [*cluster.edges, *cluster.cores]:
        exit_code = await member.stop()
        log = member.log_file.read_text()
        if exit_code != 0:
            result.faults.append(f"{member.name} ended with {exit_code}: {log[-2000:]}")
        if "Traceback" in log:
            position = log.index("Traceback")
            result.faults.append(f"{member.name} failed:\n{log[max(0, position - 500) : position + 2500]}")
