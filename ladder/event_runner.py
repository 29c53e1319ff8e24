"""Running of a ladder: start its bots or wait for them, and play its schedule on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from arena.clock import MONOTONIC
from arena.games.catalogue import CATALOGUE
from arena.ladder.bot_pool import BotPool
from arena.ladder.bot_processes import BotProcesses, open_bot_processes
from arena.ladder.dask_runner import ClusterRunner, open_cluster
from arena.ladder.event_terms import EventTerms
from arena.ladder.external_bots import ExternalBotSettings, TooFewBots, gather_bots
from arena.ladder.ladder import Ladder
from arena.ladder.pinning import Pinning
from arena.ladder.plan import own_time_controls
from arena.ladder.record_file import RecordFile
from arena.ladder.runner import Runner
from arena.protocol.record import Record
from arena.rating.pairing import Pairing
from arena.rating.schedule import Schedule
from arena.rating.standings import compute_ranks
from arena.server.core.effects import EventPlace
from arena.server.host import Host
from arena.server.processes.bot_process import RestartPolicy
from arena.server.store.ladders import StoredLadder, set_bots

GRACE_MS = 2_000
"""Milliseconds that a disconnected bot has to return. They are few: on one machine, a lost connection means a crash."""

READY_MS = 30_000
"""Milliseconds that a bot has to get ready for a match. Compiling a search for the first time takes seconds."""

CLUSTER_SECONDS = 10
"""Maximum number of seconds to wait for the answer of a cluster's scheduler."""


class ProgressObserver(Protocol):
    """Observer of a ladder's progress."""

    def show_address(self, ladder: Ladder, url: str) -> None:
        """Report the server's URL: after the started bots have connected, or before external bots connect."""

    def match_played(self, ladder: Ladder, record: Record) -> None:
        """Report a finished match, which `ladder` already contains."""

    def show_notice(self, text: str) -> None:
        """Report a text about the event, such as a bot's crash with the last lines of its output."""


class EventRunner:
    """One run of a ladder on a server. Its methods raise the errors listed in `ladder.ladder_run.run_ladder`."""

    def __init__(
        self,
        ladder: Ladder,
        observer: ProgressObserver,
        host: Host,
        stored_ladder: StoredLadder,
        file: RecordFile,
    ) -> None:
        self._ladder = ladder
        self._observer = observer
        self._host = host
        self._stored_ladder = stored_ladder
        self._file = file

    async def play_on_this_machine(self, restart_policy: RestartPolicy | None) -> None:
        """Start the bots of the plan on this machine, and play the schedule."""
        ladder = self._ladder
        schedule = self._resume_schedule()
        if self._is_finished(schedule):
            return
        async with open_bot_processes(
            self._host,
            ladder.plan.bots,
            process_count=ladder.threads.process_count,
            folder=ladder.plan.folder,
            restart_policy=restart_policy,
            games=CATALOGUE.specs(),
            on_notice=self._observer.show_notice,
        ) as processes:
            await processes.wait_connected()
            self._observer.show_address(self._ladder, self._host.url)
            await self._play_schedule(schedule, processes)

    async def play_external(self, external: ExternalBotSettings) -> None:
        """Wait for bots that connect by themselves, and play the schedule."""
        host, stored_ladder = self._host, self._stored_ladder
        self._observer.show_address(self._ladder, host.url)
        before = list(stored_ladder.plan.get("bots", ()))
        awaited = ", ".join(before) if before else f"{external.min_bots} bots or more"
        self._observer.show_notice(f"waiting for {awaited} at {host.url}")
        host.set_event(stored_ladder.event, None)
        try:
            bots = await gather_bots(
                host, self._ladder.plan.game, external, before, self._observer.show_notice
            )
        except TooFewBots:
            host.announce_restart()  # connected bots keep trying, and reconnect when the command runs again
            raise
        self._ladder.set_bots(bots.names)
        host.set_event(stored_ladder.event, bots.names)
        if bots.missing_bots_text:
            self._observer.show_notice(f"{bots.missing_bots_text}; the connected bots begin")
        if stored_ladder.plan and not before:
            await set_bots(host.engine, stored_ladder.event, bots.names)
        schedule = self._resume_schedule()
        async with bots.track_connections():
            await self._play_schedule(schedule, bots)
        rows = self._ladder.table()
        host.send_ranks(
            stored_ladder.event,
            [
                EventPlace(row.bot, rank, row.points)
                for rank, row in zip(compute_ranks(rows), rows, strict=True)
            ],
        )

    async def play_on_cluster(self, address: str, restart_policy: RestartPolicy | None) -> None:
        """Play the schedule on the workers of the cluster whose scheduler is at `address`; they start the bots."""
        plan = self._ladder.plan
        schedule = self._resume_schedule()
        if self._is_finished(schedule):
            return
        async with open_cluster(address, CLUSTER_SECONDS) as client:
            self._observer.show_address(self._ladder, self._host.url)
            runner = ClusterRunner(
                client,
                self._host,
                self._event_terms(),
                {bot.name: bot for bot in plan.bots},
                self._record_match,
                on_void=self._record_void,
                on_notice=self._observer.show_notice,
                concurrency=plan.concurrency,
                folder=plan.folder,
                grace_ms=GRACE_MS,
                restart_policy=restart_policy,
                seconds_left=self._seconds_left(),
            )
            await runner.run(schedule, self._ladder.is_decided)

    def _resume_schedule(self) -> Schedule:
        """Return the schedule without the matches in the store.

        Matches that are in the store but not in the record file are appended to this file.
        """
        ladder, stored_ladder = self._ladder, self._stored_ladder
        voids = ladder.begin(stored_ladder.uid, stored_ladder.records)
        if ladder.schedule is None:
            raise ValueError("the ladder has begun, but has no schedule")
        # The process may have been killed between writing the store and the file.
        ladder.set_other_line_count(self._file.append_missing([*voids, *ladder.records]))
        if ladder.resumed:
            of = f" of {ladder.total_matches}" if ladder.total_matches is not None else ""
            self._observer.show_notice(
                f"event {stored_ladder.event} resumes: {ladder.resumed}{of} matches were played before"
            )
        return ladder.schedule

    def _is_finished(self, schedule: Schedule) -> bool:
        """Return True if no match or no time is left, or if the ladder's test is decided."""
        ladder = self._ladder
        return not schedule or ladder.is_decided() or self._stored_ladder.seconds >= ladder.plan.seconds

    async def _play_schedule(self, schedule: Schedule, bots: BotPool) -> None:
        runner = Runner(
            self._host,
            bots,
            self._event_terms(),
            replace(self._ladder.threads, is_local=isinstance(bots, BotProcesses)),
            self._record_match,
            on_void=self._record_void,
            seconds_left=self._seconds_left(),
            **self._pinning_arguments(bots),
        )
        await runner.run(schedule, self._ladder.is_decided)

    def _seconds_left(self) -> Callable[[], float]:
        end = MONOTONIC.now() + self._ladder.plan.seconds - self._stored_ladder.seconds
        return lambda: end - MONOTONIC.now()

    def _pinning_arguments(self, bots: BotPool) -> dict[str, Any]:
        ladder = self._ladder
        if not ladder.plan.pin or not isinstance(bots, BotProcesses):
            return {}
        return {
            "match_context": Pinning(ladder.cores, ladder.threads.max_load, bots.process_id).keep_on_cores
        }

    def _event_terms(self) -> EventTerms:
        ladder = self._ladder
        return EventTerms(
            event=ladder.plan.event,
            starts=ladder.starts,
            time_control=ladder.plan.time_control,
            odds=own_time_controls(ladder.plan.bots),
            margin_ms=ladder.plan.margin_ms,
            ready_ms=READY_MS,
            openings=ladder.openings,
            adjudication=ladder.plan.adjudication,
        )

    def _record_match(self, pairing: Pairing, record: Record) -> None:
        self._file.write(record)
        self._ladder.add_match(pairing, record)
        self._observer.match_played(self._ladder, record)

    def _record_void(self, pairing: Pairing, void: Record) -> None:
        self._file.write(void)
        why = void.result.detail
        self._observer.show_notice(
            f"{pairing.maxie} against {pairing.minnie} is void, and played again: {why}"
        )
