"""Client that connects a bot to a server and plays the matches that the server assigns to it.

    counts = await Client(make_bot, ClientSettings("ws://127.0.0.1:8765", "my-bot")).run()

The state machine (`bots.client.state.machine`) decides what to send, and workers (`bots.client.worker`) run the bots in
their own threads. This module passes messages between the two and the websocket. The client reconnects after a lost
connection and resumes its matches, if the server still waits for the client. `bots.client.connection` defines the errors.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
from collections.abc import Callable

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectSendStream
from msgspec import UNSET
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from arena.bots.api.bot import Ending, Match
from arena.bots.client.connection import (
    ClientError,
    ConnectionLost,
    NoServer,
    ServerRefused,
    open_connection,
)
from arena.bots.client.settings import ClientSettings
from arena.bots.client.state.actions import (
    CancelMove,
    ChooseMove,
    ClientAction,
    Disconnect,
    EndMatch,
    PrepareBot,
    ReportStatus,
    ScheduleChallenge,
    SendMessage,
    WarnOwner,
)
from arena.bots.client.state.machine import ClientStateMachine
from arena.bots.client.state.reconnection import compute_max_reconnect_pause_seconds, should_reconnect
from arena.bots.client.status import ResultCounts, StatusReporter
from arena.bots.client.worker import (
    BotEnded,
    BotFactory,
    BotFailed,
    BotPrepared,
    BotWorker,
    MoveChosen,
    WorkerReport,
    schedule_hang_check,
)
from arena.clock import MONOTONIC_CLOCK, TimeSource
from arena.protocol.codec import DecodeError, decode_server_message, encode_message
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import ClientMessage, Hello, Status, redact_secrets

log = logging.getLogger("arena.client")

MAX_PAUSE_BEFORE_FIRST_CONNECTION_SECONDS = 5.0
"""Longest pause in seconds between attempts to connect, until a server welcomes the client for the first time."""
WELCOME_TIMEOUT_SECONDS = 10.0
"""Time limit for the server's answer to `hello`, the client's first message, in seconds."""
CHALLENGE_RETRY_INTERVAL_SECONDS = 10.0
"""Seconds that the client waits after an unsuccessful challenge before it opens another."""
IDLE_SECONDS_BEFORE_STATUS_REQUEST = 10.0
"""Seconds without a match after which the client first asks the server for the bot's status and ratings."""
STATUS_REQUEST_INTERVAL_SECONDS = 60.0
"""Seconds between two requests of the client for the bot's status, while no match is in play."""
FINAL_RATING_TIMEOUT_SECONDS = 5.0
"""Seconds that the client waits, after its last match, for the new rating. Servers update ratings about once a second."""
RESIGNED_MATCH_END_TIMEOUT_SECONDS = 2.0
"""Seconds to wait for the server to confirm the end of resigned matches."""
BOT_STOP_TIMEOUT_SECONDS = 0.5
"""Seconds that a stopping client waits for its bots' threads to end."""


class _EnteredEventOver(Exception):
    """Raised when the server reports the end of the event (for example a tournament) that the bot has entered."""


class _Disconnected(ConnectionLost):
    """Raised when the connection is lost and the client should reconnect.

    The message is a one-line reason. `is_server_stopping` is True if the server is shutting down.
    """

    def __init__(self, reason: str, *, is_server_stopping: bool) -> None:
        super().__init__(reason)
        self.is_server_stopping = is_server_stopping


class Client:
    """Connection of one bot to one server. Call `run` once, and `stop` from the same event loop.

    make_bot     creates a bot; called for each match, in a thread of its own that then runs the bot
    on_status    receives a line whenever the client connects, or the bot's state or rating changes
    on_finished  called with each finished match and its result
    on_problem   receives a line or a traceback that the bot's owner should read
    """

    def __init__(
        self,
        make_bot: BotFactory,
        settings: ClientSettings,
        *,
        on_status: Callable[[str], None] = log.info,
        on_finished: Callable[[Match, Ending], None] = lambda _match, _ending: None,
        on_problem: Callable[[str], None] = log.warning,
        clock: TimeSource = MONOTONIC_CLOCK,
    ) -> None:
        self._make_bot = make_bot
        self._settings = settings
        self._session_file = settings.session_file
        self._on_finished = on_finished
        self._on_problem = on_problem
        self._clock = clock
        self._machine = ClientStateMachine(
            Hello(
                settings.name,
                token=settings.token,
                games=list(settings.games),
                maps=list(settings.maps),
                time_controls=list(settings.time_controls),
                matches=settings.concurrency,
                pool=settings.joins_matchmaking_pool,
                program=settings.program_name[:100],
                engine=settings.engine_info,
                rules=dict(settings.rule_digests_by_game) or UNSET,
                quota=UNSET if settings.quota is None else settings.quota,
                session="" if self._session_file is None else self._session_file.session_secret,
            ),
            settings.challenge,
            () if self._session_file is None else self._session_file.match_ids,
            settings.event_name,
        )
        self._reports: asyncio.Queue[WorkerReport] = asyncio.Queue()
        self._workers: dict[str, BotWorker] = {}
        self._ending_workers: dict[str, BotWorker] = {}
        self._outbox: MemoryObjectSendStream[ClientMessage] | None = None
        self._disconnect_action: Disconnect | None = None
        self._status_reporter = StatusReporter(settings, on_status, on_problem)
        self._scope = anyio.CancelScope()
        self._idle_since = -math.inf
        """Monotonic time in seconds at which the last match ended or the connection was opened, whichever is later."""
        self._last_challenge_failure = ""
        """Reason why the last unsuccessful challenge failed, as reported to the bot's owner; empty before the first."""
        self._is_stopping = False
        """True while the client waits for the rating of its last match, after which it stops."""
        self.result_counts = ResultCounts()
        self.connection_count = 0
        """Number of connections that the server has welcomed."""

    def stop(self) -> None:
        """End `run` soon without resigning the matches in play.

        The server waits for the bot to reconnect, as after any lost connection, so `stop` alone ends no match.
        """
        self._scope.cancel()

    @property
    def match_count(self) -> int:
        """Return the number of this client's matches in play."""
        return self._machine.match_count

    def stop_after_current_matches(self) -> None:
        """Accept no more matches, and end `run` when the matches in play are over."""
        self._perform_actions(self._machine.stop_after_current_matches())
        if self._outbox is None and not self._machine.match_count:
            self.stop()  # without a connection no new match can have been assigned

    def resign_all(self) -> None:
        """Resign all matches in play and end `run`, immediately if there is no connection."""
        self.stop_after_current_matches()
        self._perform_actions(self._machine.resign_all())
        if self._outbox is None:
            self.stop()
        else:
            self._clock.call_later(RESIGNED_MATCH_END_TIMEOUT_SECONDS, self.stop)

    async def run(self) -> ResultCounts:
        """Play until `stop` is called, the quota of matches is used up, or the entered event is over.

        Return the numbers of matches won, drawn, lost and void.

        Raises ClientError if the client cannot continue. To end `run` early, call `stop`: a cancellation does not end the
        bots' threads.
        """
        self._loop = asyncio.get_running_loop()
        problem: ClientError | None = None
        async with anyio.create_task_group() as tasks:

            async def handle_reports() -> None:
                while True:
                    self._handle_worker_report(await self._reports.get())

            tasks.start_soon(handle_reports)
            tasks.start_soon(self._poll_bot_status)
            with self._scope:
                try:
                    await self._stay_connected()
                except ClientError as error:
                    problem = error
                except _EnteredEventOver:
                    log.info("the event is over")
            with anyio.CancelScope(shield=True):
                await self._stop_workers()
            tasks.cancel_scope.cancel()
        if problem is not None:
            raise problem
        return self.result_counts

    async def _stop_workers(self) -> None:
        """End the bots' threads. A thread still running after `BOT_STOP_TIMEOUT_SECONDS` is left to end with the process."""
        for worker in self._workers.values():
            worker.end_match(None)
        self._ending_workers |= self._workers
        with anyio.move_on_after(BOT_STOP_TIMEOUT_SECONDS):
            # Poll, because threads cannot set an event of this loop after their last report.
            while any(worker.is_alive for worker in self._ending_workers.values()):
                await self._clock.sleep(0.005)

    async def _stay_connected(self) -> None:
        """Keep a connection open, by reconnecting after each loss. Never returns normally.

        Raises ClientError if the client cannot continue, and _EnteredEventOver if the event that the bot has entered is over.
        """
        give_up_time = self._clock.now() + self._settings.connect_wait_seconds
        attempts, pause_seconds, is_server_stopping = 0, 0.0, False
        while True:
            connection_count_before, start_time = self.connection_count, self._clock.now()
            try:
                await self._run_connection()
            except NoServer as problem:
                log.debug("no connection: %s", problem)
                last_error: ConnectionLost | None = (
                    None  # before the first connection, `connect_wait_seconds` is the only limit
                )
                if self.connection_count:
                    last_error = ConnectionLost(
                        f"the connection was lost and could not be restored: {problem}"
                    )
                elif self._clock.now() >= give_up_time:
                    raise
            except _Disconnected as problem:
                last_error, is_server_stopping = problem, problem.is_server_stopping
                # Pauses keep growing if the connection is repeatedly lost again immediately.
                if (
                    self.connection_count > connection_count_before
                    and self._clock.now() - start_time >= pause_seconds
                ):
                    attempts = 0
                self._status_reporter.report_disconnected(
                    str(problem),
                    self._clock.now(),
                    match_count=self._machine.match_count,
                    is_server_stopping=is_server_stopping,
                )
            if (
                last_error is not None
                and self._settings.max_reconnect_attempts is not None
                and attempts >= self._settings.max_reconnect_attempts
            ):
                raise last_error
            max_pause_seconds = compute_max_reconnect_pause_seconds(
                attempts,
                is_server_stopping=is_server_stopping,
                is_playing=self._machine.match_count > 0,
                reconnect_grace_seconds=self._machine.reconnect_grace_seconds,
            )
            if self.connection_count == 0:
                max_pause_seconds = min(max_pause_seconds, MAX_PAUSE_BEFORE_FIRST_CONNECTION_SECONDS)
            attempts += 1
            # Bots that a stopping server disconnected together must not all reconnect at the same time.
            pause_seconds = max_pause_seconds * random.uniform(0.5, 1.0)
            await self._clock.sleep(pause_seconds)

    async def _run_connection(self) -> None:
        """Open one connection, and hold it until it is lost, or the server ends it by an error.

        Never returns normally. Raises BadURL or NoServer if no connection can be opened, otherwise an error that says
        why the connection ended.
        """
        connection = await open_connection(self._settings.url)
        self._disconnect_action = None
        outbox, outgoing = anyio.create_memory_object_stream[ClientMessage](
            16 + 4 * self._settings.concurrency
        )
        self._outbox = outbox

        async def send_queued() -> None:
            try:
                async for message in outgoing:
                    log.debug("> %s", redact_secrets(message))
                    await connection.send(encode_message(message))
            except ConnectionClosed:
                pass  # the reader notices the lost connection too, and reports it

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(send_queued)
                self._perform_actions(self._machine.handle_connected())
                try:
                    await self._read_frames(connection, tasks)
                finally:
                    tasks.cancel_scope.cancel()
        finally:
            self._outbox = None
            outbox.close()
            outgoing.close()
            self._machine.handle_disconnected()
            with anyio.move_on_after(1, shield=True):
                await connection.close()
            connection.transport.abort()
        raise self._make_disconnect_error(connection)

    async def _read_frames(self, connection: ClientConnection, tasks: TaskGroup) -> None:
        """Handle frames until the connection is lost or the server dismisses this client.

        tasks  task group in which a further task limits the time for the server's `welcome`
        """
        tasks.start_soon(self._expect_welcome, connection)
        while self._disconnect_action is None:
            try:
                frame = await connection.recv()
            except ConnectionClosed:
                return
            now = self._clock.now()
            try:
                message = decode_server_message(frame)
            except DecodeError as error:
                # A newer server may send message types that this client does not know.
                if error.code is not ErrorCode.UNKNOWN_TYPE:
                    self._on_problem(f"the server sent an invalid message: {error.detail}")
                log.debug("< ? %s", error.detail)
                continue
            log.debug("< %s", redact_secrets(message))
            was_welcomed = self._machine.is_welcomed
            self._perform_actions(self._machine.handle_message(message, now))
            if self._machine.is_welcomed and not was_welcomed:
                self.connection_count += 1
                self._idle_since = self._clock.now()
                self._status_reporter.report_connected(
                    self._idle_since, match_count=len(self._machine.match_ids)
                )

    async def _expect_welcome(self, connection: ClientConnection) -> None:
        await self._clock.sleep(WELCOME_TIMEOUT_SECONDS)
        if not self._machine.is_welcomed:
            self._on_problem(f"the server sent no welcome within {WELCOME_TIMEOUT_SECONDS:g} s")
            connection.transport.abort()

    def _make_disconnect_error(self, connection: ClientConnection) -> Exception:
        """Return the exception to raise after `connection` has ended.

        The exception is `_Disconnected` if the client should reconnect. Any other exception ends the client.
        """
        dismissal, url = self._disconnect_action, self._settings.url
        if dismissal is None:
            reason = connection.close_reason or f"close code {connection.close_code}"
            return _Disconnected(
                f"the connection to {url} was lost ({reason})",
                is_server_stopping=connection.close_code == 1001,
            )
        if dismissal.code is ErrorCode.EVENT_OVER:
            return _EnteredEventOver()
        if not should_reconnect(dismissal.code, was_welcomed=self.connection_count > 0):
            return ServerRefused(dismissal.code, dismissal.detail)
        if dismissal.code is ErrorCode.SHUTTING_DOWN:
            return _Disconnected(f"the server at {url} stops", is_server_stopping=True)
        return _Disconnected(
            f"the connection to {url} was lost ({dismissal.detail})", is_server_stopping=False
        )

    def _perform_actions(self, actions: list[ClientAction]) -> None:
        for action in actions:
            match action:
                case SendMessage(message):
                    self._send_message(message)
                case PrepareBot(match):
                    self._workers[match.id] = BotWorker(
                        self._make_bot, match, self._forward_worker_report, self._clock
                    )
                case ChooseMove():
                    self._workers[action.match_id].request_move(action)
                case CancelMove(match_id):
                    self._workers[match_id].cancel_move()
                case EndMatch(match, ending):
                    worker = self._ending_workers[match.id] = self._workers.pop(match.id)
                    worker.end_match(ending)
                    schedule_hang_check(self._clock, match.id, worker, self._on_problem)
                    self._idle_since = self._clock.now()
                    self.result_counts.add_outcome(ending.outcome_for(match.seat))
                    self._on_finished(match, ending)
                case WarnOwner(text):
                    self._on_problem(text)
                case ReportStatus():
                    self._status_reporter.report_status(action)
                case ScheduleChallenge(reason):
                    if reason != self._last_challenge_failure:
                        self._on_problem(
                            f"{reason}; trying again every {CHALLENGE_RETRY_INTERVAL_SECONDS:g} s"
                        )
                    self._last_challenge_failure = reason
                    self._clock.call_later(CHALLENGE_RETRY_INTERVAL_SECONDS, self._open_challenges)
                case Disconnect():
                    self._disconnect_action = action
        if self._session_file is not None and self._machine.session_secret:
            self._session_file.save(self._machine.session_secret, self._machine.match_ids)
        if self._machine.is_done:
            self._stop_when_rated()

    def _stop_when_rated(self) -> None:
        """Stop the client once the ratings after its last rated match have arrived, or after FINAL_RATING_TIMEOUT_SECONDS.

        Called after each message from the server once the client plays no more matches.
        """
        if not self._machine.pending_rating_count:
            self.stop()
        elif not self._is_stopping:
            self._is_stopping = True
            self._clock.call_later(FINAL_RATING_TIMEOUT_SECONDS, self.stop)

    async def _poll_bot_status(self) -> None:
        """Request the bot's status from the server periodically while the bot is idle, until cancelled."""
        last_request_time = -math.inf
        while True:
            now = self._clock.now()
            next_request_time = max(
                self._idle_since + IDLE_SECONDS_BEFORE_STATUS_REQUEST,
                last_request_time + STATUS_REQUEST_INTERVAL_SECONDS,
            )
            if now < next_request_time:
                await self._clock.sleep(next_request_time - now)
            elif self._machine.is_welcomed and not self._machine.match_count:
                last_request_time = now
                self._send_message(Status())
            else:
                await self._clock.sleep(IDLE_SECONDS_BEFORE_STATUS_REQUEST)

    def _open_challenges(self) -> None:
        self._perform_actions(self._machine.send_challenges())

    def _send_message(self, message: ClientMessage) -> None:
        if self._outbox is None:
            return
        try:
            self._outbox.send_nowait(message)
        except anyio.WouldBlock:
            # The server has not read for a long time. If it is alive, it will ask again for the dropped message.
            self._on_problem("the server does not read the messages of this client")

    def _forward_worker_report(self, report: WorkerReport) -> None:
        """Pass a report, such as a chosen move, from the bot's thread to the event loop. Called in the bot's thread."""
        try:
            self._loop.call_soon_threadsafe(self._reports.put_nowait, report)
        except RuntimeError:
            log.debug("a report arrived after the end of the match: %s", report)

    def _handle_worker_report(self, report: WorkerReport) -> None:
        match report:
            case BotPrepared(match_id):
                self._perform_actions(self._machine.handle_bot_prepared(match_id))
            case MoveChosen(match_id, ply, move, thinking, chosen_at):
                self._perform_actions(
                    self._machine.handle_move_chosen(match_id, ply, move, thinking, chosen_at)
                )
            case BotFailed(match_id, reason, traceback, has_crashed):
                if traceback:
                    self._on_problem(traceback.rstrip())
                self._perform_actions(
                    self._machine.handle_bot_failed(match_id, reason, has_crashed=has_crashed)
                )
            case BotEnded(match_id):
                self._ending_workers.pop(match_id, None)
