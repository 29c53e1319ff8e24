"""The shell, which does the core's I/O: all inputs and all effects of the core pass through the shell, in batches.

    take all inputs that have arrived -> core.handle_input each -> one commit -> release the effects -> repeat

No message goes out before the durable effects of its batch are committed. Inputs that arrive during a commit wait for
the next batch, so a busier server has more inputs per commit. A deadline is handled after all inputs that arrived
before it.

Inputs for which no clock runs (`DEFERRABLE_INPUT_TYPES`) are deferred for at most `MAX_INPUT_DEFERRAL_SECONDS`. Moves may overtake
deferred inputs by one batch, so few moves wait for them. The next batch handles the deferred inputs together with its own,
so on a busy server they need no commit of their own.

While the store is unavailable, the shell repeats the commit, and no clock counts against a player. If the store is
unavailable for `max_store_outage_s`, the core is dropped, since its state is ahead of the store. A new core is built from the
store when the store is available, and each edge resends its connected clients.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import anyio
import anyio.abc

from arena.clock import TimeSource
from arena.match.terms import MatchTerms
from arena.processes.tasks import open_background_tasks
from arena.protocol.messages import Accept, Move, Resign
from arena.protocol.record import Record, parse_record_line
from arena.server.core.core import Core
from arena.server.core.effects import (
    DURABLE_EFFECTS,
    CloseClient,
    DurableEffect,
    Effect,
    LogLine,
    PublishToTopic,
    SaveFinishedMatch,
    SendToClient,
)
from arena.server.core.inputs import (
    EDGE_NUMBER_SHIFT_BITS,
    ApplySettings,
    ClientAdmitted,
    ClientDisconnected,
    EdgeDisconnected,
    EdgeResynced,
    Input,
    MatchPlayedElsewhere,
    MatchRequested,
    MatchRequestWithdrawn,
    MessageReceived,
    StartDraining,
    StoreRecovered,
    Tick,
    TurnSent,
    get_edge_number,
)
from arena.server.core.settings import CoreSettings
from arena.server.loop_lag import NEVER_SCHEDULED_NS, EventLoopLag
from arena.server.ports import AdmissionRequest, EdgePort, MessageToCore, MessageToEdge, RequestResync
from arena.server.shell.authenticator import Authenticator
from arena.server.store.errors import describe_outage, is_transient_error
from arena.server.store.journal.journal import Journal, StoreUnavailable
from arena.server.store.lease import LeaseLost

log = logging.getLogger("arena.shell")

STORE_RETRY_INTERVAL_SECONDS = 0.5
"""Interval between attempts to reach an unavailable store, in seconds."""
MAX_QUEUED_INPUTS = 20_000
"""Maximum number of inputs (client messages and so on) that wait for an unavailable store.

If more arrive, the core and its state are given up. A new core is built from the store once the store is available.
"""
MAX_INPUTS_PER_BATCH = 256
"""Maximum number of inputs in one batch. All of them share one commit, and no message goes out before that commit."""
DEFERRABLE_INPUT_TYPES: frozenset[type] = frozenset({ClientAdmitted, ClientDisconnected, Accept, Resign})
"""Types of inputs and messages that may wait for the next batch, to share its commit. No player's clock waits for them."""
MAX_INPUT_DEFERRAL_SECONDS = 0.01
"""Longest time for which an input of one of the `DEFERRABLE_INPUT_TYPES` is deferred, in seconds."""
INPUT_TYPES_DROPPED_WITHOUT_CORE = (MessageReceived, EdgeResynced, MatchRequested, MatchPlayedElsewhere)
"""Types of inputs that are dropped while there is no core.

For the next core, each edge (process that holds connections) lists its clients, and the shell repeats its requests for matches.
"""


FindRecordLine = Callable[[str], Awaitable[str | None]]
"""Function that returns the record of a finished match by id, as one line of JSON; None if there is no such match."""


class Shell:
    """Runner of one core, the arena's state machine: passes inputs to the core, then stores and sends the core's effects.

    The shell works only while `run` is running.
    """

    def __init__(
        self,
        settings: CoreSettings,
        journal: Journal,
        find_record_line: FindRecordLine,
        authenticator: Authenticator,
        *,
        clock: TimeSource,
        loop_lag: EventLoopLag,
        make_seed: Callable[[], bytes],
        max_store_outage_s: float,
        event_name: str | None,
    ) -> None:
        """Set up the shell of a server, which does the core's I/O.

        journal             log of matches in the store, to which the effects are committed
        find_record_line    function that returns a stored record, by the id of its match
        authenticator       check of clients' names and tokens
        loop_lag            meter of the event loop's lag, shared with the edge
        make_seed           function that returns random bytes, for each new core
        max_store_outage_s  time to wait for an unavailable store before the core is dropped
        event_name          event (tournament) whose unfinished matches continue; None if no matches continue
        """
        self.settings = settings
        self.resumed_match_count = 0
        """Number of matches in progress when the core was last built from the store."""
        self._journal = journal
        self._find_record_line = find_record_line
        self._authenticator = authenticator
        self._clock = clock
        self._now_ns = clock.now_ns
        self._make_seed = make_seed
        self._max_store_outage_s = max_store_outage_s
        self._event_name = event_name
        self._core = Core(settings, make_seed(), clock.now_ns())
        self._edges: dict[int, EdgePort] = {}
        self._inputs: list[MessageToCore | Input] = []
        """Inputs that the core will handle in the next batch, in order."""
        self._deferred_inputs: list[MessageToCore | Input] = []
        """Inputs of the `DEFERRABLE_INPUT_TYPES` that wait for the next batch. Only moves can be handled before them."""
        self._batch_due = asyncio.Event()
        """Event (of asyncio) that is set when `run` has work to do: inputs, a passed deadline, or a stop."""
        self._is_wake_scheduled = False
        """True while a timer runs that will move the deferred inputs to the next batch."""
        self._deadline_timer: asyncio.TimerHandle | None = None
        """Timer that wakes the shell (the core's I/O) at the core's next deadline; None if no timer is set."""
        self._deadline_timer_ns = NEVER_SCHEDULED_NS
        """Time (monotonic ns) for which `_deadline_timer` is set; NEVER_SCHEDULED_NS if none is set."""
        self._loop_lag = loop_lag
        self._loop_lag.add_measurement_condition(lambda: self._deadline_timer is not None)
        self._is_serving = False
        """True while the shell has a core; False before the first core is built, and after a long outage of the store."""
        self.is_draining = False
        """True once no more matches begin, because the server is about to stop."""
        self._is_stopping = False
        self._match_requests: dict[
            str, tuple[MatchRequested | MatchPlayedElsewhere, asyncio.Future[Record]]
        ] = {}
        """Open requests of `play_match` and `store_record`, each with the future of its record, by match id."""
        self._batch_handled: asyncio.Event | None = None
        """Event (of asyncio) that is set once the next batch of inputs is handled; None if no task waits for this."""
        self._effect_handlers: dict[type, list[Callable[[Any], None]]] = {
            SaveFinishedMatch: [self._resolve_match_request],
            LogLine: [_write_log_line],
        }

    # inputs

    def submit(self, message: MessageToCore | Input) -> None:
        """Queue a message or an input for the core, which handles it in the next batch.

        An input of one of the `DEFERRABLE_INPUT_TYPES` may be handled one batch later. While a long outage of the store leaves the
        server without a core, an input of one of the `INPUT_TYPES_DROPPED_WITHOUT_CORE` is dropped. A `TurnSent` is handled at
        once. An `AdmissionRequest` goes to the authenticator first.
        """
        message_type = type(message)
        if message_type is TurnSent:
            # A `TurnSent` starts a clock and has no effects, so it needs no batch.
            self._core.handle_input(message, self._now_ns())  # type: ignore[arg-type]
        elif message_type is AdmissionRequest:
            hello = message.hello  # type: ignore[union-attr]
            bot = self._core.find_bot(hello.name) if self._is_serving and hello.session else None
            admitted = self._authenticator.enqueue_or_admit_client(message, bot)  # type: ignore[arg-type]
            if admitted is not None:
                self.submit(admitted)
        elif self._is_serving or message_type not in INPUT_TYPES_DROPPED_WITHOUT_CORE:
            if message_type is ClientDisconnected:
                self._authenticator.forget_request(message.client_number)  # type: ignore[union-attr]
            elif message_type is EdgeResynced:
                message = self._authenticator.fill_in_resynced_clients(message)  # type: ignore[arg-type]
            content_type = type(message.message) if message_type is MessageReceived else message_type  # type: ignore[union-attr]
            if content_type not in DEFERRABLE_INPUT_TYPES:
                if self._deferred_inputs and not self._may_overtake_deferred_inputs(message):
                    self._inputs += self._deferred_inputs
                    self._deferred_inputs = []
                self._inputs.append(message)
                self._batch_due.set()
                return
            self._deferred_inputs.append(message)
            if not self._is_wake_scheduled:
                self._is_wake_scheduled = True
                self._clock.call_later(MAX_INPUT_DEFERRAL_SECONDS, self._wake_for_deferred_inputs)

    def _may_overtake_deferred_inputs(self, message: MessageToCore | Input) -> bool:
        """Return True if `message` may be handled before the deferred inputs.

        The message must be a move, and no deferred input may come from the same client or concern the same match.
        """
        if type(message) is not MessageReceived or type(message.message) is not Move:
            return False
        client, match = message.client_number, message.message.match
        return all(
            deferred_input.client_number != client  # type: ignore[union-attr]
            and not (
                type(deferred_input) is MessageReceived
                and getattr(deferred_input.message, "match", None) == match
            )
            for deferred_input in self._deferred_inputs
        )

    def _wake_for_deferred_inputs(self) -> None:
        self._is_wake_scheduled = False
        self._inputs += self._deferred_inputs
        self._deferred_inputs = []
        if self._inputs:
            self._batch_due.set()

    def attach_edge(self, edge_number: int, edge_port: EdgePort) -> None:
        """Register `edge_port`, through which the shell sends messages to the edge (holder of connections) `edge_number`."""
        self._edges[edge_number] = edge_port

    def detach_edge(self, edge_number: int) -> None:
        """Forget the lost edge (holder of connections) `edge_number` and its clients.

        Do nothing if that edge is not attached.
        """
        if self._edges.pop(edge_number, None) is not None:
            self._authenticator.forget_requests_of_edge(edge_number)
            self.submit(EdgeDisconnected(edge_number))

    def send_bypassing_core(self, message: SendToClient | CloseClient) -> None:
        """Send a client a message that did not come from the core.

        Drop the message if the edge, the process that holds the client's connection, is no longer attached.
        """
        port = self._edges.get(get_edge_number(message.client_number))
        if port is not None:
            port.deliver_from_core((message,))

    def add_effect_handler(self, effect_type: type, handler: Callable[[Any], None]) -> None:
        """Call `handler` with each effect (result of an input) of type `effect_type`, once the effects of its batch are stored.

        Effects that go to edges have no handlers: `SendToClient`, `CloseClient` and `PublishToTopic`.
        """
        self._effect_handlers.setdefault(effect_type, []).append(handler)

    # for the whole server (`server.host`)

    @property
    def core(self) -> Core:
        """Current core (state machine of the server), for reading only.

        After an outage of the store, a new core replaces it.
        """
        return self._core

    def apply_settings(self, settings: CoreSettings) -> None:
        """Apply new settings to the server's current core, and to every core that is built later."""
        self.settings = settings
        self.submit(ApplySettings(settings))

    async def drain_matches(self, timeout_seconds: float) -> int:
        """Let the server's core begin no new matches, and wait up to `timeout_seconds` until no match is in progress.

        Return the number of matches still in progress.
        """
        self.is_draining = True
        self.submit(StartDraining())
        with anyio.move_on_after(timeout_seconds):
            while self._core.match_count:
                await self.wait_for_next_batch()
        return self._core.match_count

    async def play_match(self, terms: MatchTerms) -> Record:
        """Play one match to its end, once both bots accept another match, and return its record.

        If the caller is cancelled, a match that has begun continues, and one that waits for its bots is withdrawn. Once the
        server is about to stop, a match that has not begun waits until the caller is cancelled.
        """
        return await self._request_match(MatchRequested(terms))

    async def store_record(self, terms: MatchTerms, record: Record) -> None:
        """Store the record of a match that this server did not run: it was played elsewhere, or was a walkover.

        Return once the record is durable. If the caller is cancelled, the record may still be stored.
        """
        await self._request_match(MatchPlayedElsewhere(terms, record))

    async def _request_match(self, request: MatchRequested | MatchPlayedElsewhere) -> Record:
        """Pass a request for a match to the server's core, and return the record of the match once it is stored.

        If the core is replaced after an outage of the store, the new core gets the request too.
        """
        match = request.terms.match
        record: asyncio.Future[Record] = asyncio.get_running_loop().create_future()
        self._match_requests[match] = request, record
        try:
            self.submit(request)
            return await record
        except asyncio.CancelledError:
            self.submit(MatchRequestWithdrawn(match))
            raise
        finally:
            del self._match_requests[match]

    async def wait_for_next_batch(self) -> None:
        """Wait until the server's core has handled another batch of inputs, and so may have changed its matches or clients."""
        if self._batch_handled is None:
            self._batch_handled = asyncio.Event()
        await self._batch_handled.wait()

    def stop_after_queued_inputs(self) -> None:
        """End `run` once all inputs that have arrived are handled, and the resulting changes are stored and messages sent."""
        self._is_stopping = True
        self._batch_due.set()

    # the task

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until `stop_after_queued_inputs` is called or the task is cancelled.

        `task_status.started` is called once the core is built from the store. Raises lease.LeaseLost if another process
        takes the lease.
        """
        async with open_background_tasks() as tasks:
            tasks.start_soon(self._authenticator.admit_queued_clients, self)
            tasks.start_soon(self._watch_lease)
            is_ready, logged_error = False, ""
            while not self._is_stopping:
                try:
                    effects = await self._build_core_from_store()
                    if not is_ready:
                        is_ready = True
                        task_status.started()
                    elif logged_error:
                        log.warning("the store is back; matches continue")
                    logged_error = ""
                    # A separate task is cheaper: resuming a nested coroutine also passes through all its callers.
                    await asyncio.create_task(self._handle_batches_until_stopped(effects))
                except StoreUnavailable as error:
                    self._is_serving = False
                    if str(error) != logged_error:
                        log.error("the store is unavailable, and matches wait until it is back: %s", error)  # noqa: TRY400  one line, no stack
                    logged_error = str(error)
                    if not self._is_stopping:
                        await self._clock.sleep(STORE_RETRY_INTERVAL_SECONDS)
            if self._deadline_timer is not None:
                self._deadline_timer.cancel()
            self._loop_lag.stop_measuring()

    async def _watch_lease(self) -> None:
        """Wake `run` when the lease on the server's name is lost, so that `run` stops before its next commit fails."""
        await self._journal.lease_lost.wait()
        self._batch_due.set()

    async def _build_core_from_store(self) -> list[Effect]:
        """Build the server's core from the state in the store. Return its first effects: messages to send and data to store."""
        restore = await self._journal.load_restart_state(self._event_name)
        now = self._now_ns()
        self._core = Core(self.settings, self._make_seed(), now)
        effects = self._core.handle_input(restore, now)
        if self.is_draining:
            effects += self._core.handle_input(StartDraining(), now)
        self.resumed_match_count = self._core.match_count
        waiting_inputs = self._inputs + self._deferred_inputs
        self._inputs = [
            input for input in waiting_inputs if type(input) not in INPUT_TYPES_DROPPED_WITHOUT_CORE
        ]
        self._deferred_inputs = []
        self._is_serving = True
        for match, (request, record) in list(self._match_requests.items()):
            if not self._core.is_match_in_progress(match):
                await self._repeat_match_request(request, record)
        for port in list(self._edges.values()):
            port.deliver_from_core((RequestResync(),))
        return effects

    async def _repeat_match_request(
        self, request: MatchRequested | MatchPlayedElsewhere, record_future: asyncio.Future[Record]
    ) -> None:
        """Send a request for a match to the rebuilt core.

        If the match is stored already, give its record to the caller instead.

        record_future  future that the caller of `_request_match` waits for
        """
        try:
            line = await self._find_record_line(request.terms.match)
        except Exception as error:
            if not is_transient_error(error):
                raise
            raise StoreUnavailable(describe_outage(error)) from error
        if record_future.done():  # the caller may have been cancelled meanwhile
            return
        if line is None:
            self.submit(request)
        else:
            record_future.set_result(parse_record_line(line))

    async def _handle_batches_until_stopped(self, effects: list[Effect]) -> None:
        """Handle inputs, batch by batch, until stopped.

        effects: changes and messages that building the core caused, to be stored and sent in the first batch

        Raises StoreUnavailable if the store stays unavailable, and lease.LeaseLost if another process has taken the server's
        name.
        """
        core, deadline = self._core, self._core.next_deadline_ns
        while not self._journal.lease_lost.is_set():
            self._batch_due.clear()
            now = self._now_ns()
            inputs = self._inputs[:MAX_INPUTS_PER_BATCH]
            self._inputs = self._inputs[MAX_INPUTS_PER_BATCH:] + self._deferred_inputs
            self._deferred_inputs = []
            if self._inputs:
                self._batch_due.set()
            for message in inputs:
                effects += core.handle_input(message, now)  # type: ignore[arg-type]
            if deadline is not None and deadline <= now and not self._inputs:
                effects += core.handle_input(Tick(self._loop_lag.pop_longest_lag_ns()), now)
            durable: list[DurableEffect] = []
            for effect in effects:
                if type(effect) in DURABLE_EFFECTS:
                    durable.append(effect)  # type: ignore[arg-type]  # noqa: PERF401  a comprehension adds a frame in each batch
            if durable:
                try:
                    await self._journal.commit(durable)
                except StoreUnavailable as error:
                    await self._repeat_commit_until_stored(durable, error)
            if effects or self._batch_handled is not None:
                self._dispatch_effects(effects)
            effects = []
            deadline = core.next_deadline_ns
            if self._batch_due.is_set():
                await self._clock.sleep(0)  # let the event loop read and write the sockets
            elif deadline is None or self._now_ns() < deadline:
                if self._is_stopping:
                    return
                # an earlier timer stays: most deadlines move before they are reached
                if deadline is not None and not self._deadline_timer_ns <= deadline:
                    self._set_deadline_timer(deadline)
                await self._batch_due.wait()
        raise LeaseLost(self._journal.lease)

    def _set_deadline_timer(self, deadline_ns: int) -> None:
        """Wake the shell (the core's I/O) at `deadline_ns` (monotonic ns), and cancel the timer set before."""
        if self._deadline_timer is not None:
            self._deadline_timer.cancel()
        self._deadline_timer_ns = deadline_ns
        delay_seconds = (deadline_ns - self._now_ns()) / 1e9
        self._deadline_timer = self._clock.call_later(delay_seconds, self._wake_at_deadline)
        self._loop_lag.start_measuring()

    def _wake_at_deadline(self) -> None:
        self._deadline_timer, self._deadline_timer_ns = None, NEVER_SCHEDULED_NS
        self._batch_due.set()

    def _dispatch_effects(self, effects: Sequence[Effect]) -> None:
        """Pass each effect of the core to the edges (holders of connections), or to the handlers of its type.

        Effects for clients, such as messages, are grouped by edge, and go first, because clients are waiting for them. Handling
        the end of a match takes longer.
        """
        outboxes: dict[int, list[MessageToEdge]] = {}
        other_effects: list[Effect] = []
        for effect in effects:
            effect_type = type(effect)
            if effect_type is SendToClient or effect_type is CloseClient:
                edge = effect.client_number >> EDGE_NUMBER_SHIFT_BITS  # type: ignore[union-attr]
                if edge in outboxes:
                    outboxes[edge].append(effect)  # type: ignore[arg-type]
                else:
                    outboxes[edge] = [effect]  # type: ignore[list-item]
            elif effect_type is PublishToTopic:
                for edge in effect.edge_numbers:  # type: ignore[union-attr]
                    outboxes.setdefault(edge, []).append(effect)  # type: ignore[arg-type]
            else:
                other_effects.append(effect)
        for edge, messages in outboxes.items():
            port = self._edges.get(edge)
            if port is not None:
                port.deliver_from_core(messages)
        for effect in other_effects:
            for handler in self._effect_handlers.get(type(effect), ()):
                handler(effect)
        if self._batch_handled is not None:
            self._batch_handled.set()
            self._batch_handled = None

    async def _repeat_commit_until_stored(
        self, durable_effects: Sequence[DurableEffect], error: StoreUnavailable
    ) -> None:
        """Repeat a commit while the store is unavailable.

        Raises StoreUnavailable after `max_store_outage_s`, on a stop, or if too many inputs wait. Raises lease.LeaseLost if
        another process has taken the server's name.
        """
        give_up_time = self._now_ns() + round(self._max_store_outage_s * 1e9)
        log.warning(
            "matches wait for the store; after %g s, moves that are not stored are discarded: %s",
            self._max_store_outage_s,
            error,
        )
        while True:
            if self._is_stopping or self._now_ns() >= give_up_time or len(self._inputs) > MAX_QUEUED_INPUTS:
                raise error
            await self._clock.sleep(STORE_RETRY_INTERVAL_SECONDS)
            try:
                await self._journal.commit(durable_effects)
            except StoreUnavailable as new_error:
                error = new_error
            else:
                log.warning("the store is back; matches continue")
                self._inputs.insert(0, StoreRecovered())
                return

    def _resolve_match_request(self, closed_match: SaveFinishedMatch) -> None:
        request = self._match_requests.get(closed_match.record.match)
        if request is not None and not request[1].done():
            request[1].set_result(closed_match.record)


def _write_log_line(report: LogLine) -> None:
    extra = {key: value for key, value in (("bot", report.bot_name), ("match", report.match_id)) if value}
    log.log(logging.getLevelNamesMapping()[report.level.upper()], "%s", report.text, extra=extra)
