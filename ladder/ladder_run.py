"""Run of a whole ladder: open a server and the event, start the bots or wait for them, and play the schedule.

The schedule is played on this machine, or on a Dask cluster. Ctrl-C or SIGTERM stops the ladder: matches in play are
dropped, finished ones are kept, and all bots are ended before `run_ladder` returns.
"""

from __future__ import annotations

import signal
import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing
from dataclasses import replace
from datetime import datetime
from typing import Protocol

import anyio
from anyio.abc import TaskStatus

from arena.clock import MONOTONIC_CLOCK
from arena.games.catalogue import CATALOGUE
from arena.ladder.bot_pool import BotConnectionPool
from arena.ladder.bot_processes import RECONNECT_GRACE_MS, open_bot_processes
from arena.ladder.dask_runner import DaskRunner, open_dask_client
from arena.ladder.event_terms import EventTerms
from arena.ladder.external_bots import (
    ExternalBotSettings,
    TooFewBots,
    wait_for_bots_of_finished_event,
    wait_for_external_bots,
)
from arena.ladder.ladder import Ladder
from arena.ladder.pinning import CorePinning
from arena.ladder.plan import map_bots_to_time_controls
from arena.ladder.progress import make_ladder_progress
from arena.ladder.record_file import RecordFile
from arena.ladder.runner import MatchRunner
from arena.ladder.threads import ThreadAllocation
from arena.processes.tasks import open_background_tasks
from arena.protocol.record import Record
from arena.rating.pairing import Pairing
from arena.rating.schedule import Schedule
from arena.server.core.effects import FinalEventRank
from arena.server.edge.addresses import LOOPBACK_ADDRESS
from arena.server.host import ArenaServer, open_arena_server
from arena.server.settings import make_private_server_settings
from arena.server.store.ladders import (
    CannotResumeLadder,
    StoredLadder,
    claim_ladder,
    finish_ladder,
    store_bots_in_plan,
)
from arena.server.web.event_progress import EventProgress

EXTERNAL_BOT_RECONNECT_GRACE_MS = 10_000
"""Milliseconds within which a disconnected external bot (one that connects by itself) must reconnect, or else lose its match."""

BOT_READY_TIMEOUT_MS = 120_000
"""Milliseconds within which a bot must get ready for a match, or else lose it.

The time is long, because a compiled search takes long to load on a busy machine.
"""

SCHEDULER_TIMEOUT_SECONDS = 10
"""Maximum number of seconds to wait for the answer of a Dask cluster's scheduler."""


class ProgressObserver(Protocol):
    """Receiver of the messages of a running ladder, such as the progress display on the terminal."""

    def show_address(self, ladder: Ladder, url: str) -> None:
        """Report the server's URL.

        If the ladder waits for external bots, this method is called before these bots connect. Otherwise it is called once the
        bots that the ladder started, or the cluster's scheduler, are connected.
        """

    def show_match(self, ladder: Ladder, record: Record) -> None:
        """Report a finished match, which `ladder` already contains."""

    def show_notice(self, text: str) -> None:
        """Report a message about the event, such as a bot's crash with the last lines of its output."""


async def run_ladder(
    ladder: Ladder,
    observer: ProgressObserver,
    *,
    database_url: str | None = None,
    external_bot_settings: ExternalBotSettings | None = None,
    scheduler_address: str | None = None,
    port: int = 0,
) -> None:
    """Play a ladder to its end, until its sequential test (SPRT) is decided, or until a signal. `ladder` then has the results.

    observer               receiver of the address, of finished matches and of problems
    database_url           URL of a store, in which an interrupted event is resumed; None for a temporary store
    external_bot_settings  settings for bots that connect by themselves; None to start the bots of the plan
    scheduler_address      address of a Dask scheduler whose workers play the matches; None to play on this machine
    port                   port of the web page on this machine, if `external_bot_settings` is None; 0 for any free port

    After the first signal, further signals are ignored: the cleanup takes a few seconds at most.

    Raises

    - bot_pool.BotNotStarted if a bot cannot be started, and external_bots.TooFewBots if too few external bots connect
    - dask_runner.DaskClusterUnavailable if the cluster cannot be used, and ModuleNotFoundError if `scheduler_address` is given
      but the extra `cluster` is not installed
    - server.edge.edge.CannotListen if the port cannot be used
    - server.store.errors.StoreError if the store cannot be used or another process has resumed the event, and
      server.store.ladders.CannotResumeLadder if the event cannot be resumed
    - OSError if the record file cannot be written
    """
    async with open_background_tasks() as tasks:
        await tasks.start(_stop_on_signal, ladder, tasks.cancel_scope)
        async with _open_server(ladder, external_bot_settings, database_url, port) as host:
            try:
                stored_ladder = await _claim_event(ladder, host, can_resume=database_url is not None)
                with closing(RecordFile(ladder.choose_record_file(stored_ladder.started))) as file:
                    run = _LadderRun(ladder, observer, host, stored_ladder, file)
                    await run.play_event(external_bot_settings, scheduler_address)
            except CannotResumeLadder:
                if external_bot_settings is not None:
                    observer.show_notice(
                        f"the event cannot be resumed: waiting at {host.url} to tell {external_bot_settings.min_bots} bots so"
                    )
                    await wait_for_bots_of_finished_event(host, ladder.plan.game, external_bot_settings)
                raise


def _open_server(
    ladder: Ladder,
    external_bot_settings: ExternalBotSettings | None,
    database_url: str | None,
    port: int,
) -> AbstractAsyncContextManager[ArenaServer]:
    # The name is unique, because many events and a server may share a store.
    name = f"{ladder.event_kind} {uuid.uuid4().hex[:12]}"

    def find_event_progress(event_name: str) -> EventProgress | None:
        return make_ladder_progress(ladder) if event_name == ladder.plan.event_name else None

    settings = make_private_server_settings(
        host=LOOPBACK_ADDRESS if external_bot_settings is None else external_bot_settings.host,
        port=port if external_bot_settings is None else external_bot_settings.port,
        anyone=external_bot_settings is not None,
        database_url=database_url,
        name=name,
        grace_seconds=(
            RECONNECT_GRACE_MS if external_bot_settings is None else EXTERNAL_BOT_RECONNECT_GRACE_MS
        )
        / 1000,
        adjudication=ladder.plan.adjudication,
    )
    return open_arena_server(settings, will_restart=False, find_event_progress=find_event_progress)


async def _claim_event(ladder: Ladder, host: ArenaServer, *, can_resume: bool) -> StoredLadder:
    """Create the ladder's event in the store, or resume the stored event, and return it.

    While the server `host` runs, no other process can resume the event.

    can_resume  True to store hashes of the bots' files, with which a later run resumes the event only if the bots are
                unchanged; False for a temporary store, from which no event is resumed
    """
    default_name = f"{ladder.event_kind}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    name = ladder.plan.event_name if ladder.is_named_by_user else None
    stored_ladder = await claim_ladder(
        host.db_engine,
        host.settings.server.name,
        ladder.event_kind,
        name,
        default_name,
        ladder.make_settings_for_resume_check(includes_file_digests=can_resume),
    )
    ladder.set_event_name(stored_ladder.event)
    return stored_ladder


async def _stop_on_signal(
    ladder: Ladder, scope: anyio.CancelScope, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            ladder.mark_stopped_early()
            scope.cancel()


class _LadderRun:
    """One run of a ladder on a server."""

    def __init__(
        self,
        ladder: Ladder,
        observer: ProgressObserver,
        host: ArenaServer,
        stored_ladder: StoredLadder,
        record_file: RecordFile,
    ) -> None:
        self._ladder = ladder
        self._observer = observer
        self._host = host
        self._stored_ladder = stored_ladder
        self._record_file = record_file
        self._write_error: OSError | None = None
        """Error that occurred when a match's record was written; None if there was none. `_should_stop` raises it."""

    async def play_event(
        self, external_bot_settings: ExternalBotSettings | None, scheduler_address: str | None
    ) -> None:
        """Play the ladder to its end.

        external_bot_settings  settings for bots that connect by themselves; None to start the bots of the plan
        scheduler_address      address of a Dask scheduler whose workers play the matches; None to play on this machine
        """
        if external_bot_settings is not None:
            await self._play_with_external_bots(external_bot_settings)
        else:
            schedule = self._resume_schedule()
            if not self._is_finished(schedule):
                if scheduler_address is not None:
                    await self._play_on_dask_cluster(schedule, scheduler_address)
                else:
                    await self._play_on_this_machine(schedule)
        # Interrupted matches are removed from the store, so the server must not write to the store any more.
        await self._host.handle_last_inputs_and_stop()
        await finish_ladder(self._host.db_engine, self._stored_ladder.event, self._host.settings.server.name)

    async def _play_on_this_machine(self, schedule: Schedule) -> None:
        """Start the bots of the plan on this machine, and play the schedule."""
        ladder = self._ladder
        async with open_bot_processes(
            self._host,
            ladder.plan.bots,
            count_processes=ladder.thread_allocation.count_processes,
            folder=ladder.plan.bot_folder,
            restart_policy=ladder.restart_policy,
            game_specs=CATALOGUE.list_file_game_specs(),
            on_notice=self._observer.show_notice,
        ) as processes:
            await processes.wait_until_connected()
            self._observer.show_address(self._ladder, self._host.url)
            pinning = CorePinning(
                ladder.bot_cores, ladder.thread_allocation.max_running_threads, processes.find_process_id
            )
            await self._play_schedule(
                schedule,
                processes,
                ladder.thread_allocation,
                pinning if ladder.plan.should_pin_bots else None,
            )

    async def _play_with_external_bots(self, external_bot_settings: ExternalBotSettings) -> None:
        """Wait for bots that connect by themselves, and play the schedule."""
        host, stored_ladder = self._host, self._stored_ladder
        self._observer.show_address(self._ladder, host.url)
        earlier_bots = list(stored_ladder.plan.get("bots", ()))
        awaited = (
            ", ".join(earlier_bots) if earlier_bots else f"{external_bot_settings.min_bots} bots or more"
        )
        self._observer.show_notice(f"waiting for {awaited} at {host.url}")
        host.set_external_event(stored_ladder.event, None)
        try:
            bots = await wait_for_external_bots(
                host, self._ladder.plan.game, external_bot_settings, earlier_bots, self._observer.show_notice
            )
        except TooFewBots:
            host.announce_restart()  # connected bots keep trying, and reconnect when the command runs again
            raise
        self._ladder.set_external_bots(bots.bot_names)
        host.set_external_event(stored_ladder.event, bots.bot_names)
        if bots.missing_bots_text:
            self._observer.show_notice(f"{bots.missing_bots_text}; the connected bots begin")
        if not earlier_bots:
            await store_bots_in_plan(
                host.db_engine, stored_ladder.event, host.settings.server.name, bots.bot_names
            )
        schedule = self._resume_schedule()
        async with bots.open_connection_tracking():
            await self._play_schedule(
                schedule, bots, replace(self._ladder.thread_allocation, are_bots_local=False)
            )
        host.send_final_ranks(
            stored_ladder.event,
            [FinalEventRank(row.bot, row.rank, row.points) for row in self._ladder.make_standings_rows()],
        )

    async def _play_on_dask_cluster(self, schedule: Schedule, scheduler_address: str) -> None:
        """Let the workers of a Dask cluster start the bots and play the schedule.

        scheduler_address  address of the cluster's scheduler
        """
        async with open_dask_client(scheduler_address, SCHEDULER_TIMEOUT_SECONDS) as client:
            self._observer.show_address(self._ladder, self._host.url)
            runner = DaskRunner(
                client,
                self._host.shell,
                self._make_event_terms(),
                self._ladder.plan,
                self._record_match,
                on_void_match=self._record_void_match,
                on_notice=self._observer.show_notice,
                restart_policy=self._ladder.restart_policy,
                compute_seconds_left=self._make_seconds_left_function(),
            )
            await runner.run(schedule, self._should_stop)

    def _resume_schedule(self) -> Schedule:
        """Return the schedule without the matches in the store.

        Matches that are in the store but not in the record file are appended to this file.
        """
        ladder, stored_ladder = self._ladder, self._stored_ladder
        void_records = ladder.build_schedule(stored_ladder.uid, stored_ladder.records)
        if ladder.schedule is None:
            raise ValueError(f"event {stored_ladder.event!r} has no schedule: build_schedule() must make one")
        # The process may have been killed between writing the store and the file.
        ladder.set_other_events_record_count(
            self._record_file.append_missing_records([*void_records, *ladder.records])
        )
        if ladder.resumed_match_count:
            total_text = f" of {ladder.total_matches}" if ladder.total_matches is not None else ""
            self._observer.show_notice(
                f"event {stored_ladder.event} resumes: {ladder.resumed_match_count}{total_text} matches were played before"
            )
        return ladder.schedule

    def _is_finished(self, schedule: Schedule) -> bool:
        """Return True if no match or no time is left, or if the ladder's sequential test (SPRT) is decided."""
        ladder = self._ladder
        return (
            not schedule
            or ladder.is_sprt_decided()
            or self._stored_ladder.played_seconds >= ladder.plan.max_play_seconds
        )

    async def _play_schedule(
        self,
        schedule: Schedule,
        bots: BotConnectionPool,
        thread_allocation: ThreadAllocation,
        pinning: CorePinning | None = None,
    ) -> None:
        runner = MatchRunner(
            self._host.shell,
            bots,
            self._make_event_terms(),
            thread_allocation,
            self._record_match,
            on_void_match=self._record_void_match,
            compute_seconds_left=self._make_seconds_left_function(),
            pinning=pinning,
        )
        await runner.run(schedule, self._should_stop)

    def _should_stop(self) -> bool:
        """Return True if the ladder's sequential test (SPRT) is decided. Raises OSError if a record could not be written."""
        if self._write_error is not None:
            raise self._write_error
        return self._ladder.is_sprt_decided()

    def _make_seconds_left_function(self) -> Callable[[], float]:
        end_time = (
            MONOTONIC_CLOCK.now() + self._ladder.plan.max_play_seconds - self._stored_ladder.played_seconds
        )
        return lambda: end_time - MONOTONIC_CLOCK.now()

    def _make_event_terms(self) -> EventTerms:
        ladder = self._ladder
        return EventTerms(
            event_name=ladder.plan.event_name,
            games_by_start_position=ladder.games_by_start_position,
            time_control=ladder.plan.time_control,
            time_control_by_bot=map_bots_to_time_controls(ladder.plan.bots),
            margin_ms=ladder.plan.margin_ms,
            ready_timeout_ms=BOT_READY_TIMEOUT_MS,
            openings=ladder.openings,
            adjudication=ladder.plan.adjudication,
        )

    def _record_match(self, pairing: Pairing, record: Record) -> None:
        if self._append_to_record_file(record):
            self._ladder.add_match(pairing, record)
            self._observer.show_match(self._ladder, record)

    def _record_void_match(self, pairing: Pairing, record: Record) -> None:
        if self._append_to_record_file(record):
            reason = record.result.detail
            self._observer.show_notice(
                f"{pairing.maxie} against {pairing.minnie} is void, and played again: {reason}"
            )

    def _append_to_record_file(self, record: Record) -> bool:
        """Append a record to the file. Return False if that fails.

        After a failure, the run ends, and the matches in play are dropped. This method does not raise the error, because
        it is called in the task of a match, whose errors would reach the caller in an ExceptionGroup. `_should_stop`
        raises it instead.
        """
        try:
            self._record_file.append_record(record)
        except OSError as error:
            self._write_error = error
            return False
        return True
