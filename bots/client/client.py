"""The client: connects a bot to a server and plays the matches that come.

    tally = await Client(make_bot, Options("ws://127.0.0.1:8765", "my-bot")).run()

The state machine (`bots.client.state.machine`) decides, workers (`bots.client.worker`) think in threads of their own, and
this file moves messages between them and the websocket. A lost connection is made again, and the matches go on, if the
server still waits. Errors are those of `bots.client.connection`.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections.abc import Callable

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectSendStream
from msgspec import UNSET
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from arena.bots.api.match import Ending, Match
from arena.bots.client.connection import (
    ClientError,
    Lost,
    NoServer,
    ServerRefused,
    open_connection,
    printable,
)
from arena.bots.client.options import Options
from arena.bots.client.presence import Presence
from arena.bots.client.state.actions import (
    Action,
    Again,
    Choose,
    Complain,
    Finish,
    Leave,
    Prepare,
    Send,
    Stand,
    Stop,
)
from arena.bots.client.state.machine import Machine
from arena.bots.client.state.returning import comes_back, pause
from arena.bots.client.tally import Tally
from arena.bots.client.worker import BotFactory, Broke, Chosen, Ended, Prepared, Report, Worker, look_after
from arena.protocol.codec import DecodeError, decode_server, encode
from arena.protocol.codes import Code
from arena.protocol.messages import ClientMessage, Hello, Status

log = logging.getLogger("arena.client")

WAITING_PAUSE = 5.0
"""The longest pause between attempts, in seconds, while a server that was never there is waited for."""
WELCOME_SECONDS = 10.0
"""How long a server may take to answer hello."""
CHALLENGE_SECONDS = 10.0
"""The pause after a challenge that came to nothing."""
IDLE_SECONDS = 10.0
"""How long a bot is without a match before it asks the server what it waits for."""
ASK_SECONDS = 60.0
"""How often it asks again."""
RESIGN_SECONDS = 2.0
"""How long the ends of matches that were given up may take to come."""
LAST_SECONDS = 0.5
"""How long bots may take to hear of the end when the client stops."""


class _EventOver(Exception):
    """The server has said that its event is over."""


class _Away(Lost):
    """The connection was lost and is made again: the line says why, `stopped` whether the server stops."""

    def __init__(self, line: str, *, stopped: bool) -> None:
        super().__init__(line)
        self.stopped = stopped


class Client:
    """One bot on one server. `run` once; `stop` from the same event loop.

    tell       told in a line what goes on: that the bot is connected, and that it is back
    finished   called with each match that is over
    complain   told, in one line or a traceback, what the bot's owner should read
    """

    def __init__(
        self,
        make: BotFactory,
        options: Options,
        *,
        tell: Callable[[str], None] = log.info,
        finished: Callable[[Match, Ending], None] = lambda _match, _ending: None,
        complain: Callable[[str], None] = log.warning,
    ) -> None:
        self._make = make
        self._options = options
        self._tell = tell
        self._finished = finished
        self._complain = complain
        self._machine = Machine(
            Hello(
                options.name,
                token=options.token,
                games=list(options.games),
                maps=list(options.maps),
                time_controls=list(options.time_controls),
                matches=options.matches,
                pool=options.pool,
                program=options.program[:100],
                engine=options.engine,
                rules=dict(options.rules) or UNSET,
                quota=UNSET if options.quota is None else options.quota,
            ),
            options.challenge,
        )
        self._workers: dict[str, Worker] = {}
        self._leaving: dict[str, Worker] = {}
        self._outbox: MemoryObjectSendStream[ClientMessage] | None = None
        self._leave: Leave | None = None
        self._presence = Presence(options, tell, complain)
        self._scope = anyio.CancelScope()
        self._idle_since = -math.inf
        """When the last match ended, or the connection was made."""
        self._refused = ""
        """Why a challenge came to nothing, as it was told last."""
        self._stood = "", ""
        """The state that the bot was told last, and the line with it."""
        self.tally = Tally()
        self.connections = 0
        """How often a connection was made and welcomed."""

    def stop(self) -> None:
        """End `run` soon. Open matches are not resigned: whoever stops the bots of a whole event must
        not thereby decide its matches. The server waits for this bot as for any that is lost."""
        self._scope.cancel()

    @property
    def playing(self) -> int:
        """How many matches are in play."""
        return self._machine.playing

    def finish(self) -> None:
        """Take no more matches, and end `run` when those in play are over."""
        self._act(self._machine.finish())
        if self._outbox is None and not self._machine.playing:
            self.stop()  # no server can have a match for it that it does not know

    def resign(self) -> None:
        """Give up all matches in play and end `run`: at once where no connection is there to say so."""
        self.finish()
        self._act(self._machine.resign_all())
        if self._outbox is None:
            self.stop()
        else:
            self._loop.call_later(RESIGN_SECONDS, self.stop)

    async def run(self) -> Tally:
        """Play until the event is over, the quota is played, or `stop` is called. Raises ClientError."""
        self._loop = asyncio.get_running_loop()
        # Not bounded by a number, but by the bots: none of them makes a report before the next order.
        self._reports, reports = anyio.create_memory_object_stream[Report](math.inf)
        problem: ClientError | None = None
        async with anyio.create_task_group() as tasks:

            async def take_reports() -> None:
                async for report in reports:
                    self._take(report)

            tasks.start_soon(take_reports)
            tasks.start_soon(self._ask_how_it_stands)
            with self._scope:
                try:
                    await self._stay_connected()
                except ClientError as error:
                    problem = error
                except _EventOver:
                    log.info("the event is over")
            with anyio.CancelScope(shield=True):
                await self._dismiss_workers()
            tasks.cancel_scope.cancel()
        self._reports.close()
        reports.close()
        if problem is not None:
            raise problem
        return self.tally

    async def _dismiss_workers(self) -> None:
        """End the bots' threads. One that does not listen is left behind: it is a daemon."""
        for worker in self._workers.values():
            worker.finish(None)
        self._leaving |= self._workers
        with anyio.move_on_after(LAST_SECONDS):
            # Threads cannot set an event of this loop once they are past their last report.
            while any(worker.alive for worker in self._leaving.values()):  # noqa: ASYNC110
                await anyio.sleep(0.005)

    # connections

    async def _stay_connected(self) -> None:
        patience = anyio.current_time() + self._options.wait
        tries, paused, stopped = 0, 0.0, False
        while True:
            before, began = self.connections, anyio.current_time()
            try:
                await self._connect_once()
            except NoServer as problem:
                if self.connections == 0 and anyio.current_time() >= patience:
                    raise
                given_up = Lost(f"the connection was lost and did not come back: {problem}")
                end: Lost | None = given_up if self.connections else None  # else `wait` is the bound
                log.debug("no connection: %s", problem)
            except _Away as problem:
                end, stopped = problem, problem.stopped
                # A connection that is lost again at once, again and again, is waited for longer and longer.
                if self.connections > before and anyio.current_time() - began >= paused:
                    tries = 0
                self._presence.lost(
                    str(problem), anyio.current_time(), playing=self._machine.playing, stopped=stopped
                )
            if end is not None and self._options.reconnects is not None and tries >= self._options.reconnects:
                raise end
            longest = pause(
                tries, stopped=stopped, playing=self._machine.playing > 0, grace=self._machine.grace
            )
            if self.connections == 0:
                longest = min(longest, WAITING_PAUSE)
            tries += 1
            # Bots that one server's end has thrown out together must not all come back at once.
            paused = longest * random.uniform(0.5, 1.0)
            await anyio.sleep(paused)

    async def _connect_once(self) -> None:
        """Hold one connection, from its handshake to its loss. Always raises."""
        connection = await open_connection(self._options.url)
        self._leave = None
        outbox, outgoing = anyio.create_memory_object_stream[ClientMessage](16 + 4 * self._options.matches)
        self._outbox = outbox

        async def write() -> None:
            try:
                async for message in outgoing:
                    log.debug("> %s", printable(message))
                    await connection.send(encode(message))
            except ConnectionClosed:
                pass  # the reader meets the lost connection too, and tells

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(write)
                self._act(self._machine.opened())
                try:
                    await self._read(connection, tasks)
                finally:
                    tasks.cancel_scope.cancel()
        finally:
            self._outbox = None
            outbox.close()
            outgoing.close()
            self._machine.lost()
            with anyio.move_on_after(1, shield=True):
                await connection.close()
            connection.transport.abort()
        raise self._why_gone(connection)

    async def _read(self, connection: ClientConnection, tasks: TaskGroup) -> None:
        """Take frames until the connection is lost, or the server is done with this client."""
        tasks.start_soon(self._expect_welcome, connection)
        while self._leave is None:
            try:
                frame = await connection.recv()
            except ConnectionClosed:
                return
            now = time.monotonic()
            try:
                message = decode_server(frame)
            except DecodeError as error:
                # A later server may say more than this client knows.
                if error.code is not Code.UNKNOWN_TYPE:
                    self._complain(f"the server sent what is no message: {error.detail}")
                log.debug("< ? %s", error.detail)
                continue
            log.debug("< %s", printable(message))
            welcomed = self._machine.welcomed
            self._act(self._machine.received(message, now))
            if self._machine.welcomed and not welcomed:
                self.connections += 1
                self._idle_since = anyio.current_time()
                self._presence.connected(self._idle_since, playing=self._machine.playing)

    async def _expect_welcome(self, connection: ClientConnection) -> None:
        await anyio.sleep(WELCOME_SECONDS)
        if not self._machine.welcomed:
            self._complain(f"no welcome came within {WELCOME_SECONDS:g} s")
            connection.transport.abort()

    def _why_gone(self, connection: ClientConnection) -> Exception:
        leave, url = self._leave, self._options.url
        if leave is None:
            why = connection.close_reason or f"close code {connection.close_code}"
            return _Away(f"the connection to {url} was lost ({why})", stopped=connection.close_code == 1001)
        if leave.code is Code.EVENT_OVER:
            return _EventOver()
        if not comes_back(leave.code, was_in=self.connections > 0):
            return ServerRefused(leave.code, leave.detail)
        if leave.code is Code.SHUTTING_DOWN:
            return _Away(f"the server at {url} stops", stopped=True)
        return _Away(f"the connection to {url} was lost ({leave.detail})", stopped=False)

    # actions and reports

    def _act(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Send(message):
                    self._send(message)
                case Prepare(match):
                    self._workers[match.id] = Worker(self._make, match, self._report)
                case Choose():
                    self._workers[action.match].choose(action)
                case Stop(match_id):
                    self._workers[match_id].stop()
                case Finish(match, ending):
                    worker = self._leaving[match.id] = self._workers.pop(match.id)
                    worker.finish(ending)
                    look_after(self._loop, match.id, worker, self._complain)
                    self._idle_since = anyio.current_time()
                    self.tally.add(ending.standing(match.seat))
                    self._finished(match, ending)
                case Complain(text):
                    self._complain(text)
                case Stand(state, detail):
                    self._stand(state, detail)
                case Again(why):
                    if why != self._refused:
                        self._complain(f"{why}; trying again every {CHALLENGE_SECONDS:g} s")
                    self._refused = why
                    self._loop.call_later(CHALLENGE_SECONDS, self._challenge)
                case Leave():
                    self._leave = action
        if self._machine.done:
            self.stop()

    async def _ask_how_it_stands(self) -> None:
        """Ask the server now and then what a bot waits for that plays nothing, until cancelled."""
        asked = -math.inf
        while True:
            now = anyio.current_time()
            due = max(self._idle_since + IDLE_SECONDS, asked + ASK_SECONDS)
            if now < due:
                await anyio.sleep(due - now)
            elif self._machine.welcomed and not self._machine.playing:
                asked = now
                self._send(Status())
            else:
                await anyio.sleep(IDLE_SECONDS)

    def _challenge(self) -> None:
        self._act(self._machine.challenge())

    def _stand(self, state: str, detail: str) -> None:
        """Say how the bot stands, where that is something new."""
        if (state, detail) != self._stood and state not in ("playing", "finishing"):
            self._tell(f"{self._options.name}: {detail}")
        self._stood = state, detail

    def _send(self, message: ClientMessage) -> None:
        if self._outbox is None:
            return
        try:
            self._outbox.send_nowait(message)
        except anyio.WouldBlock:
            # The server has not read for a long time. What is dropped here it asks for again, if it lives.
            self._complain("the server does not read what it is sent")

    def _report(self, report: Report) -> None:
        """Hand a bot's report to the event loop. Called in the bot's thread."""
        try:
            self._loop.call_soon_threadsafe(self._reports.send_nowait, report)
        except RuntimeError:
            log.debug("a report came after the end: %s", report)

    def _take(self, report: Report) -> None:
        match report:
            case Prepared(match):
                self._act(self._machine.prepared(match))
            case Chosen():
                chosen = report
                self._act(
                    self._machine.chose(chosen.match, chosen.ply, chosen.move, chosen.thinking, chosen.at)
                )
            case Broke(match, why, trace, crash):
                if trace:
                    self._complain(trace.rstrip())
                self._act(self._machine.failed(match, why, crash=crash))
            case Ended(match):
                self._leaving.pop(match, None)
