"""ArenaServer: a whole server in one process, whose parts are opened and closed together.

The server consists of a core, which pairs bots and runs matches; a shell, which stores the core's decisions; and an edge,
which holds the connections.

    async with open_arena_server() as host:
        token = host.issue_token("greedy")
        ...
        record = await host.shell.play_match(terms)
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from ssl import SSLContext
from typing import Any

import anyio
import anyio.abc
import anyio.to_thread
import msgspec

from arena.clock import MONOTONIC_CLOCK, TimeSource
from arena.cores import list_usable_cores
from arena.games.loading import list_installed_game_entry_points
from arena.processes.identity import PROGRAM_NAME_AND_VERSION
from arena.processes.tasks import open_background_tasks
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import EventStatus, Notice
from arena.protocol.record import Record
from arena.server.abuse_counter import AbuseCounter, compute_refusal_seconds
from arena.server.cluster.frames import HEARTBEAT_INTERVAL_NS, MAX_SILENCE_BEFORE_LOSS_NS
from arena.server.core.effects import AnalysisTrimmed, FinalEventRank, SaveFinishedMatch, SendToClient
from arena.server.core.events import add_final_rank
from arena.server.core.inputs import BotCrashed
from arena.server.core.settings import CoreSettings, Pool
from arena.server.edge.addresses import LOOPBACK_ADDRESS, make_loopback_url, make_websocket_url
from arena.server.edge.directives import EMPTY_NOTICE, ActiveDirectives
from arena.server.edge.edge import Edge, require_usable_address
from arena.server.loop_lag import EventLoopLag
from arena.server.metrics import Metrics
from arena.server.ports import CorePort
from arena.server.settings import ArenaSettings, ProcessRole, ServerSettings, make_private_server_settings
from arena.server.shell.address_recorder import AddressRecorder
from arena.server.shell.authenticator import Authenticator
from arena.server.shell.house_processes import EMPTY_HOUSE_ENGINE_PLAN, HouseEnginePlan, open_house_engines
from arena.server.shell.missed_results import MissedResultSender
from arena.server.shell.rating_updater import RatingUpdater
from arena.server.shell.shell import Shell
from arena.server.shell.stored_requests import StoredRequestHandler
from arena.server.shell.webhooks import WebhookSender
from arena.server.store.database import (
    CORE_DATABASE_TIMEOUTS,
    DEFAULT_DATABASE_TIMEOUTS,
    Engine,
    convert_database_errors,
    create_or_migrate_store,
    open_engine,
    parse_sqlite_path,
    run_periodically,
)
from arena.server.store.directives import load_directives_and_banned_names
from arena.server.store.finished_matches import load_record_line
from arena.server.store.journal.journal import Journal, open_journal
from arena.server.store.lease import DEFAULT_LEASE_SECONDS, LeaseLost
from arena.server.store.match_packing import pack_finished_matches
from arena.server.store.pruning import apply_retention
from arena.server.store.stored_requests import SendRequestViaStore
from arena.server.web.event_progress import FindEventProgress
from arena.server.web.page_messages import ServerInfo
from arena.server.web.web_app import WebApp

log = logging.getLogger("arena.host")

LOCAL_EDGE_NUMBER = 1
"""Number of the edge (part that holds connections) in the same process as the core (part that decides matches)."""
DIRECTIVE_POLL_INTERVAL_SECONDS = 1.0
"""Interval between checks of the store for new directives (bans and notices) and requests, in seconds."""
RATING_UPDATE_INTERVAL_SECONDS = 1.0
"""Interval between updates of the ratings, in seconds. Matches that finish close together are counted in one update."""
RECORD_PACKING_INTERVAL_SECONDS = 2.0
"""Interval between two compressions of the newly finished matches in the store, in seconds."""
ADDRESS_STORING_INTERVAL_SECONDS = 10.0
"""Interval between two writes of the bots' hashed addresses to the store, in seconds."""
PRUNING_INTERVAL_SECONDS = 3600.0
"""Interval between two removals of old matches and expired personal data from the store, in seconds."""
STANDBY_LEASE_SECONDS = 2.0
"""Duration of a core process's lease on the server's name, in seconds, if other core processes stand by to take over.

A core that fails cannot renew its lease. The short duration lets a standby take over quickly.
"""


def make_core_settings(
    settings: ArenaSettings, pool: Pool | None, house_engine_plan: HouseEnginePlan, unix_ns_at_clock_zero: int
) -> CoreSettings:
    """Return the settings of the core, the part that runs matches, derived from the settings of the whole server.

    pool                   matches for the matchmaker to arrange; None for no matchmaking
    house_engine_plan      engines that the server itself runs
    unix_ns_at_clock_zero  Unix time at which the core's clock shows 0, in ns
    """
    matches = settings.matches
    return CoreSettings(
        server_program=PROGRAM_NAME_AND_VERSION,
        unix_ns_at_clock_zero=unix_ns_at_clock_zero,
        reconnect_grace_ms=round(1000 * matches.grace_seconds),
        # A copy, because a reload changes the server's settings in place, but not those of a core.
        limits=msgspec.structs.replace(settings.limits),
        pool=pool,
        concurrency=settings.pool.concurrency or len(list_usable_cores()),
        concurrency_counts_threads=not settings.pool.concurrency,
        adjudication=matches.adjudication,
        analysis_visibility=matches.thinking,
        house_engines=tuple(house_engine_plan.engines),
        # Within this time, a silent edge either counts as lost, so that its bots' turns restart, or lists its clients
        # again, so that turns are resent.
        max_edge_transit_ns=MAX_SILENCE_BEFORE_LOSS_NS + 2 * HEARTBEAT_INTERVAL_NS
        if settings.server.role == "core"
        else 0,
    )


class ArenaServer:
    """Server made by `open_arena_server`: a core (rules of matches), a shell (the core's I/O), background jobs and an edge.

    The edge is the front end, which holds the clients' connections.
    """

    edge: Edge
    """Edge: the front end of the server, which accepts and holds the clients' connections."""
    url: str
    """URL at which bots connect."""
    loopback_url: str
    """Loopback URL for the server's own engines, without TLS; empty on a server without such engines."""

    def __init__(
        self,
        settings: ArenaSettings,
        journal: Journal,
        metrics: Metrics,
        *,
        pool: Pool | None,
        house_engine_plan: HouseEnginePlan,
        event_name: str | None,
        will_restart: bool,
        on_record: Callable[[Record], Awaitable[None]] | None,
        clock: TimeSource,
    ) -> None:
        """Assemble the parts of the server, such as the shell (the core's I/O). `open_arena_server` describes the arguments."""
        self.settings = settings
        self.db_engine = db_engine = journal.engine
        self.journal = journal
        self.metrics = metrics
        self.house_engine_plan = house_engine_plan
        self.will_restart = will_restart
        """True if the server will restart after it stops. Clients are asked to reconnect if so; else told that the event is over."""
        self.lease_lost: LeaseLost | None = None
        """Error with which the server stops when another process has taken over its name (its lease); None until then."""
        self._clock = clock
        self._loop_lag = EventLoopLag(clock, metrics.loop_lag_seconds.observe)
        self._authenticator = Authenticator(
            db_engine,
            settings.server.name,
            admits_anyone=settings.server.anyone,
            admits_guests=house_engine_plan.admits_guests,
            wrong_token_counter=AbuseCounter(compute_refusal_seconds(settings.matches.grace_seconds)),
            clock=clock,
        )
        for house_engine in house_engine_plan.engines:
            # This token reserves the name: no other client can use the name of a house engine.
            self.issue_token(house_engine.bot_name)
        find_record_line = partial(load_record_line, db_engine)
        self.shell = shell = Shell(
            make_core_settings(settings, pool, house_engine_plan, time.time_ns() - clock.now_ns()),
            journal,
            find_record_line,
            self._authenticator,
            clock=clock,
            loop_lag=self._loop_lag,
            make_seed=lambda: secrets.token_bytes(32),
            max_store_outage_s=settings.matches.grace_seconds,
            event_name=event_name,
        )
        self._request_handler = StoredRequestHandler(db_engine, settings.server.name, shell)
        self._background_jobs = [
            MissedResultSender(find_record_line, shell, clock).send_requested_results,
            self._pass_finished_records_to_callback,
            *self._list_periodic_store_jobs(),
        ]
        webhook_settings = settings.webhooks
        if webhook_settings.url:
            self._background_jobs.append(
                WebhookSender(
                    webhook_settings.url, webhook_settings.secret, shell, time.time, clock
                ).send_queued_messages
            )
        self._on_record = on_record
        self._finished_records: asyncio.Queue[Record] = asyncio.Queue()
        self._shell_ended = anyio.Event()
        shell.add_effect_handler(SaveFinishedMatch, self._handle_match_end)
        shell.add_effect_handler(
            AnalysisTrimmed, lambda cut: metrics.trimmed_moves.inc(cut.removed_move_count)
        )
        metrics.connected_bots.set_function(lambda: len(shell.core.connected_bots))
        metrics.current_matches.set_function(lambda: shell.core.match_count)
        metrics.suspended_bots.set_function(lambda: shell.core.count_suspended_bots(clock.now_ns()))
        file = parse_sqlite_path(settings.store.url)
        if file is not None:
            metrics.free_disk_share.set_function(lambda: _measure_free_disk_share(file.parent))

    def _list_periodic_store_jobs(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        """Return the jobs that read and write the store periodically, such as the update of the ratings."""
        ratings = RatingUpdater(self.db_engine, self.shell)
        addresses = AddressRecorder(self.db_engine, self.shell)
        pack = partial(pack_finished_matches, self.db_engine)
        jobs = (
            (ratings.update_ratings, RATING_UPDATE_INTERVAL_SECONDS, "the ratings cannot be updated now"),
            (
                addresses.store_new_address_uses,
                ADDRESS_STORING_INTERVAL_SECONDS,
                "addresses cannot be stored now",
            ),
            (
                self._request_handler.submit_stored_requests,
                DIRECTIVE_POLL_INTERVAL_SECONDS,
                "commands cannot be read now",
            ),
            (pack, RECORD_PACKING_INTERVAL_SECONDS, "finished matches cannot be packed now"),
            (self._remove_old_data, PRUNING_INTERVAL_SECONDS, "old data cannot be removed now"),
        )
        return [partial(run_periodically, self.db_engine, self._clock, *job) for job in jobs]

    async def start_shell_and_jobs(self, stack: AsyncExitStack) -> None:
        """Start the shell, which runs the core and does its I/O, and the background jobs. They run until `stack` closes.

        Return once the core has its state from the store.
        """
        tasks = await stack.enter_async_context(open_background_tasks())
        serving_scope = anyio.CancelScope()
        stack.callback(serving_scope.cancel)

        async def serve(*, task_status: anyio.abc.TaskStatus[None]) -> None:
            with serving_scope:
                try:
                    await self.shell.run(task_status=task_status)
                except LeaseLost as error:
                    self.lease_lost = error
                    tasks.cancel_scope.cancel()
                finally:
                    self._shell_ended.set()

        await tasks.start(serve)
        # From here on, cancelling the block must not cancel the shell before it has handled all arrived inputs.
        serving_scope.shield = True
        stack.push_async_callback(self._stop_despite_cancellation)
        for job in self._background_jobs:
            tasks.start_soon(job)

    async def accept_connections(
        self, stack: AsyncExitStack, tls: SSLContext | None, find_event_progress: FindEventProgress
    ) -> None:
        """Accept connections until `stack` closes. Raises CannotListen if the address cannot be used.

        tls                  certificate; None for connections without TLS
        find_event_progress  function that returns the progress of an event that is played here, for the web pages
        """
        self.edge = await make_edge(
            stack,
            LOCAL_EDGE_NUMBER,
            self.shell,
            self.settings,
            self.metrics,
            db_engine=self.db_engine,
            house_engine_plan=self.house_engine_plan,
            uses_tls=tls is not None,
            describe_outage=self._describe_outage,
            send_request_via_store=self._request_handler.send_request_via_store,
            find_event_progress=find_event_progress,
            loop_lag=self._loop_lag,
            is_storing_moves=self.journal.is_committing,
            clock=self._clock,
        )
        self.shell.attach_edge(LOCAL_EDGE_NUMBER, self.edge)
        self.url, self.loopback_url = await start_edge_listening(
            self.edge, self.settings.server, tls, has_house_engines=bool(self.house_engine_plan.engines)
        )
        log.info("listening on %s", self.url)

    def _handle_match_end(self, closed_match: SaveFinishedMatch) -> None:
        self.metrics.finished_matches.labels(closed_match.record.result.reason.value).inc()
        if self._on_record is not None:
            self._finished_records.put_nowait(closed_match.record)

    async def _remove_old_data(self) -> None:
        await apply_retention(self.db_engine, self.settings.store.retention)

    async def _pass_finished_records_to_callback(self) -> None:
        """Call `on_record` with the record of each finished match, until cancelled. Return at once if `on_record` is None."""
        while self._on_record is not None:
            await self._on_record(await self._finished_records.get())

    def _describe_outage(self) -> str:
        """Return one line that says why no match can begin now, such as an unavailable store; empty if matches can begin."""
        return "the server is about to stop" if self.shell.is_draining else self.journal.describe_outage()

    def apply_changed_settings(self, pool: Pool | None) -> None:
        """Apply changed values in `self.settings`. `settings.RELOADABLE_SETTING_KEYS` lists the keys that may change.

        pool  matches for the matchmaker to arrange from now on; None for no matchmaking

        Raises BadAdjudication if the adjudication rules in the settings are invalid. The edge and the store's jobs need
        no call: they read their settings at each use.
        """
        self.shell.apply_settings(
            make_core_settings(
                self.settings, pool, self.house_engine_plan, self.shell.settings.unix_ns_at_clock_zero
            )
        )

    @property
    def match_count(self) -> int:
        """Number of matches in progress."""
        return self.shell.core.match_count

    def open_house_engines(self) -> AbstractAsyncContextManager[None]:
        """Run the server's own engines (house engines) during the `async with` block.

        Raises HouseEngineError if an engine cannot be started and the server's plan has `checks_engines_at_start` set.
        """
        return open_house_engines(self.house_engine_plan, self.shell, self, self.loopback_url)

    def issue_token(self, bot_name: str) -> str:
        """Return a new token for the bot of this name. Earlier tokens from this server for that bot become invalid."""
        return self._authenticator.issue_token(bot_name)

    def is_bot_connected(self, bot_name: str) -> bool:
        """Return True while a bot of that name is connected."""
        bot = self.shell.core.find_bot(bot_name)
        return bot is not None and bot.client_number is not None

    def set_external_event(self, event_name: str, entrants: Sequence[str] | None) -> None:
        """Set the event (tournament) played on this server. A `standing` message tells a bot whether it plays in the event.

        entrants  names of the bots that play in the event; None before it begins
        """
        entrant_names = None if entrants is None else tuple(entrants)
        self.shell.apply_settings(
            msgspec.structs.replace(
                self.shell.settings, external_event_name=event_name, external_event_entrants=entrant_names
            )
        )

    def send_final_ranks(self, event_name: str, ranks: Sequence[FinalEventRank]) -> None:
        """Send each connected bot its final rank and points in an event (tournament). Other bots get no message."""
        for rank in ranks:
            bot = self.shell.core.find_bot(rank.bot_name)
            if bot is not None and bot.client_number is not None:
                status = EventStatus(event_name, "over", entered=True, detail="")
                self.shell.send_bypassing_core(
                    SendToClient(
                        bot.client_number, add_final_rank(status, rank.rank, rank.points, len(ranks))
                    )
                )

    async def wait_until_connected(self, bot_name: str, timeout_seconds: float) -> bool:
        """Wait until a bot is connected, and return True. If the bot is not connected after `timeout_seconds`, return False."""
        with anyio.move_on_after(timeout_seconds):
            while not self.is_bot_connected(bot_name):
                await self.shell.wait_for_next_batch()
            return True
        return False

    def list_available_bot_names(self, game_name: str) -> set[str]:
        """Return the names of the connected bots that play the game `game_name` and accept at least one more match."""
        return {
            bot.name
            for bot in self.shell.core.connected_bots
            if bot.match_quota != 0
            and (not bot.preferences.game_names or game_name in bot.preferences.game_names)
        }

    def get_reported_thread_count(self, bot_name: str) -> int:
        """Return the number of search threads that a bot reports; 0 if it reports none."""
        bot = self.shell.core.find_bot(bot_name)
        return (bot.engine.threads if bot is not None and bot.engine is not None else None) or 0

    def forfeit_bot_matches(self, bot_name: str, exit_description: str) -> None:
        """Report to the server's core that the process of a bot run by this server has ended. The bot then loses its matches.

        exit_description  description of how the process ended, for the matches' records
        """
        self.shell.submit(BotCrashed(bot_name, exit_description))

    def announce_restart(self) -> None:
        """Declare that the server will restart. On exit, clients are asked to reconnect, not told that the event is over."""
        self.will_restart = True

    async def handle_last_inputs_and_stop(self) -> None:
        """Handle all inputs that have arrived, and stop the server's core: later inputs are ignored, so no match changes."""
        self.shell.stop_after_queued_inputs()
        await self._shell_ended.wait()

    async def _stop_despite_cancellation(self) -> None:
        with anyio.CancelScope(shield=True):
            await self.handle_last_inputs_and_stop()


def _measure_free_disk_share(folder: Path) -> float:
    usage = shutil.disk_usage(folder)
    return usage.free / usage.total


@asynccontextmanager
async def open_arena_server(
    settings: ArenaSettings | None = None,
    *,
    pool: Pool | None = None,
    house_engine_plan: HouseEnginePlan = EMPTY_HOUSE_ENGINE_PLAN,
    tls: SSLContext | None = None,
    resumed_event_name: str | None = None,
    will_restart: bool = True,
    on_record: Callable[[Record], Awaitable[None]] | None = None,
    find_event_progress: FindEventProgress = lambda _event: None,
    clock: TimeSource = MONOTONIC_CLOCK,
) -> AsyncIterator[ArenaServer]:
    """Run a server during the `async with` block: listen, play matches and store them.

    settings             settings of the server; None for those of `settings.make_private_server_settings`
    pool                 matches for the matchmaker to arrange; None for no matchmaking
    house_engine_plan    engines that the server itself runs, within `ArenaServer.open_house_engines`
    tls                  certificate; None for connections without TLS
    resumed_event_name   event (tournament) whose unfinished matches continue after a restart; None if none continue
    will_restart         True if the server will restart after it stops. If False, connected clients are notified on
                         exit that the event is over, unless the block is cancelled: then the event may be continued
                         later
    on_record            function that is called with the record of each finished match
    find_event_progress  function that returns the progress of an event that is played here, for the web pages

    A core in a process of its own (role `core`) may have standbys. Such a core waits until the server's name is free, and holds
    the name by a short lease, so that a standby can take over quickly.

    Raises CannotListen if an address cannot be used, and StoreError if the store is unavailable. In any role other than
    `core`, raises lease.LeaseHeld if another process holds the server's name. Raises lease.LeaseLost, after cancelling the
    block, if another process has taken the name. On exit, clients are notified and disconnected; matches in progress stay
    in the journal.
    """
    settings = settings or make_private_server_settings()
    async with AsyncExitStack() as stack:
        # The first call reads files of every installed package, which would stall the event loop.
        await anyio.to_thread.run_sync(list_installed_game_entry_points)
        if settings.server.role is not ProcessRole.CORE:  # a standby may wait on the leader's address
            await _require_usable_addresses(settings.server)
        db_engine = await stack.enter_async_context(open_store(settings))
        metrics = Metrics()
        is_standby = settings.server.role is ProcessRole.CORE
        async with convert_database_errors(db_engine):
            journal = await stack.enter_async_context(
                open_journal(
                    db_engine,
                    settings.server.name,
                    is_standby=is_standby,
                    lease_seconds=STANDBY_LEASE_SECONDS if is_standby else DEFAULT_LEASE_SECONDS,
                    clock=clock,
                    observe_commit_seconds=metrics.journal_commit_seconds.observe,
                )
            )
        host = ArenaServer(
            settings,
            journal,
            metrics,
            pool=pool,
            house_engine_plan=house_engine_plan,
            event_name=resumed_event_name,
            will_restart=will_restart,
            on_record=on_record,
            clock=clock,
        )
        await host.start_shell_and_jobs(stack)
        await host.accept_connections(stack, tls, find_event_progress)
        try:
            yield host
        except anyio.get_cancelled_exc_class():
            host.announce_restart()
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await host.edge.close(ErrorCode.SHUTTING_DOWN if host.will_restart else ErrorCode.EVENT_OVER)
    if host.lease_lost is not None:
        raise host.lease_lost


async def make_edge(
    stack: AsyncExitStack,
    edge_number: int,
    core: CorePort,
    settings: ArenaSettings,
    metrics: Metrics,
    *,
    db_engine: Engine,
    house_engine_plan: HouseEnginePlan,
    uses_tls: bool,
    describe_outage: Callable[[], str],
    send_request_via_store: SendRequestViaStore,
    find_event_progress: FindEventProgress = lambda _event: None,
    loop_lag: EventLoopLag,
    is_storing_moves: Callable[[], bool] = lambda: False,
    clock: TimeSource,
) -> Edge:
    """Make an edge (part that holds the clients' connections) with its web pages; `stack` closes both. It does not listen yet.

    edge_number          number of the edge, which identifies it to the core
    core                 core to which the edge passes messages
    db_engine            database that the pages read and write
    house_engine_plan    engines that the server runs, for display on the pages
    uses_tls             True if the edge itself speaks TLS
    describe_outage      function that returns the reason why no match can begin now; empty if matches can begin
    send_request_via_store    function that sends a request to a server, and returns the answer
    find_event_progress  function that returns the progress of an event that is played here, for the pages
    loop_lag             meter of the event loop's lag, shared with a core in this process
    is_storing_moves     function that returns True while this process stores moves; the fair queue then waits a moment
    """
    edge = await stack.enter_async_context(
        Edge(
            edge_number,
            core,
            settings.limits,
            metrics=metrics,
            server_program=PROGRAM_NAME_AND_VERSION,
            proxies=settings.server.proxies,
            abuse_refusal_seconds=compute_refusal_seconds(settings.matches.grace_seconds),
            # Without tokens, a page of another site has no more rights than any other client.
            allows_any_origin=settings.server.anyone,
            rate_exempt_names={engine.bot_name for engine in house_engine_plan.engines},
            loop_lag=loop_lag,
            is_storing_moves=is_storing_moves,
            clock=clock,
        )
    )
    info = ServerInfo(
        PROGRAM_NAME_AND_VERSION,
        admits_anyone=settings.server.anyone,
        admits_guests=house_engine_plan.admits_guests,
        house_bots=tuple(engine.bot_name for engine in house_engine_plan.engines),
        uses_tls=uses_tls,
    )
    edge.page_handler = pages = WebApp(
        info,
        db_engine,
        edge.page_client,
        metrics,
        edge.work_budget,
        describe_outage,
        send_request_via_store=send_request_via_store,
        find_event_progress=find_event_progress,
        origins=settings.server.origins,
        clock=clock,
    )
    stack.callback(pages.page_process.close)
    update = partial(_load_and_apply_directives, edge, pages, db_engine)
    edge.start_soon(
        run_periodically,
        db_engine,
        clock,
        update,
        DIRECTIVE_POLL_INTERVAL_SECONDS,
        "bans and notices cannot be read now",
    )
    edge.start_soon(pages.rename_queue.run)
    return edge


async def _load_and_apply_directives(edge: Edge, pages: WebApp, db_engine: Engine) -> None:
    """Load the bans and the notice to all clients from the store, and give them to an edge (connections) and its pages.

    On a database error, the last known bans and notice stay in force.
    """
    current, names = await load_directives_and_banned_names(db_engine)
    notice = next(
        (Notice(directive.text, directive.end_time) for directive in current if directive.kind == "notice"),
        EMPTY_NOTICE,
    )
    networks = {
        ip_network(directive.subject): directive.text for directive in current if directive.kind == "address"
    }
    directives = ActiveDirectives(names, networks, notice)
    if directives.banned_names != edge.directives.banned_names:
        pages.clear_cache()  # cached pages may show names that are now removed or allowed again
    edge.apply_directives(directives)


async def start_edge_listening(
    edge: Edge, settings: ServerSettings, tls: SSLContext | None, *, has_house_engines: bool
) -> tuple[str, str]:
    """Make an edge listen. Return the URL for bots, and the URL for the server's own engines; each is empty if there is none.

    tls                certificate of the server; None for connections without TLS
    has_house_engines  True if the server runs engines of its own

    A core in a process of its own has no URL for bots: they connect through edges. Raises CannotListen if an address is
    in use or invalid.
    """
    url, loopback_url = "", None
    if settings.role is not ProcessRole.CORE:
        bound_address = await edge.start_listening(
            settings.host, settings.port, tls, reuse_port=settings.reuse_port
        )
        url = make_websocket_url(settings.host, bound_address[1], tls)
        # On a shared port, the server's own bots could reach another process.
        loopback_url = None if settings.reuse_port else make_loopback_url(bound_address, tls)
    if settings.metrics_port or (has_house_engines and loopback_url is None):
        loopback_url = make_websocket_url(
            LOOPBACK_ADDRESS, (await edge.start_listening(LOOPBACK_ADDRESS, settings.metrics_port, None))[1]
        )
    return url, (loopback_url or "") if has_house_engines else ""


async def _require_usable_addresses(settings: ServerSettings) -> None:
    """Raise CannotListen if an address of the settings is in use or invalid. Called before the store is created."""
    await require_usable_address(settings.host, settings.port, reuse_port=settings.reuse_port)
    if settings.metrics_port:
        await require_usable_address(LOOPBACK_ADDRESS, settings.metrics_port)


@asynccontextmanager
async def open_store(settings: ArenaSettings) -> AsyncIterator[Engine]:
    """Open, for the `async with` block, the store that the settings name. Create or migrate its schema first.

    Without a URL in the settings, the store is a temporary file. Raises StoreError if the store cannot be used.
    """
    async with AsyncExitStack() as stack:
        if settings.store.url:
            is_core = settings.server.role is ProcessRole.CORE
            timeouts = CORE_DATABASE_TIMEOUTS if is_core else DEFAULT_DATABASE_TIMEOUTS
            opening = open_engine(settings.store.url, timeouts=timeouts)
        else:
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True)
            )
            opening = open_engine(f"sqlite:///{Path(folder) / 'arena.db'}", is_durable=False)
        db_engine = await stack.enter_async_context(opening)
        await create_or_migrate_store(db_engine)
        yield db_engine
