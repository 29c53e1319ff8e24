"""The client: connects a bot to a server and plays the matches that come.

    client = Client(make_bot, Options("ws://127.0.0.1:8765", "my-bot"))
    tally = await client.run()

The state machine (`bots.client.state.machine`) decides, workers (`bots.client.worker`) think in threads of their own, and
this file moves messages between them and the websocket. A lost connection is made again, and the
matches go on where they were, if the server still waits. Errors are those of `bots.client.connection`.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectSendStream
from msgspec import UNSET, UnsetType, structs
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from bots.api.match import Ending, Match, Standing
from bots.client.connection import ClientError, Lost, NoServer, ServerRefused, open_connection
from bots.client.state.actions import Action, Choose, Complain, Finish, Leave, Prepare, Send, Stop
from bots.client.state.machine import Machine
from bots.client.worker import BotFactory, Broke, Chosen, Ended, Prepared, Report, Worker
from protocol.codec import DecodeError, decode_server, encode
from protocol.codes import Code
from protocol.engine import EngineInfo
from protocol.messages import ClientMessage, Hello, ServerMessage, Welcome

log = logging.getLogger("arena.client")

FIRST_PAUSE = 0.1
"""Seconds before the first attempt to connect again; each further pause is twice as long."""
LONGEST_PAUSE = 5.0
RECONNECTS = 16
"""How often in a row a client tries to connect again. All pauses together last half a minute at the least, as long as a
server by default waits for a bot to return."""
WELCOME_SECONDS = 10.0
"""How long a server may take to answer hello."""
LAST_SECONDS = 0.5
"""How long bots may take to hear of the end when the client stops."""


class _Stopped(Exception):
    """The server has said that it stops."""


@dataclass(frozen=True)
class Options:
    """How to connect, and as whom."""

    url: str
    name: str
    token: str = ""
    matches: int = 1
    """How many matches to play at once."""
    games: tuple[str, ...] = ()
    """The games it plays; empty for all."""
    pool: bool = True
    """Whether the server's matchmaker may give it matches; else it only plays whom challenges it."""
    program: str = ""
    """What runs behind the name, for people."""
    engine: EngineInfo | UnsetType = UNSET
    """What chooses the moves, and with how many threads it searches in each match."""
    reconnects: int = RECONNECTS
    """How often in a row to try to connect again when the connection is lost."""
    wait: float = 0.0
    """Seconds for which to try the first connection again when there is no server yet."""


@dataclass
class Tally:
    """The matches of this client so far. `void` ones count for nobody."""

    won: int = 0
    drawn: int = 0
    lost: int = 0
    void: int = 0

    def add(self, standing: Standing) -> None:
        """Count one match more."""
        setattr(self, standing, getattr(self, standing) + 1)

    def __str__(self) -> str:
        void = f", {self.void} void" if self.void else ""
        return f"{self.won} won, {self.drawn} drawn, {self.lost} lost{void}"


def finished_line(match: Match, ending: Ending) -> str:
    """What is told of a finished match, as one line."""
    game = f"{match.game.name} as {match.seat} against {match.opponent}"
    return f"match {match.id:.8}: {game}: {ending.standing(match.seat)} ({ending})"


class Client:
    """One bot on one server. `run` once; `stop` from the same event loop.

    connected  called when a server has let the bot in, also when it comes back
    finished   called with each match that is over
    complain   told, in one line or a traceback, what the bot's owner should read
    """

    def __init__(
        self,
        make: BotFactory,
        options: Options,
        *,
        connected: Callable[[], None] = lambda: None,
        finished: Callable[[Match, Ending], None] = lambda _match, _ending: None,
        complain: Callable[[str], None] = log.warning,
    ) -> None:
        self._make = make
        self._options = options
        self._connected = connected
        self._finished = finished
        self._complain = complain
        self._machine = Machine(
            Hello(
                options.name,
                token=options.token,
                games=list(options.games),
                matches=options.matches,
                pool=options.pool,
                program=options.program[:100],
                engine=options.engine,
            )
        )
        self._workers: dict[str, Worker] = {}
        self._leaving: dict[str, Worker] = {}
        self._outbox: MemoryObjectSendStream[ClientMessage] | None = None
        self._leave: Leave | None = None
        self._scope = anyio.CancelScope()
        self.tally = Tally()
        self.connections = 0
        """How often a connection was made and welcomed."""

    def stop(self) -> None:
        """End `run` soon. Open matches are not resigned: whoever stops the bots of a whole event must
        not thereby decide its matches. The server waits for this bot as for any that is lost."""
        self._scope.cancel()

    async def run(self) -> Tally:
        """Play until the server stops or `stop` is called. Raises ClientError."""
        self._loop = asyncio.get_running_loop()
        # Not bounded by a number, but by the bots: none of them makes a report before the next order.
        self._reports, reports = anyio.create_memory_object_stream[Report](math.inf)
        problem: ClientError | None = None
        async with anyio.create_task_group() as tasks:

            async def take_reports() -> None:
                async for report in reports:
                    self._take(report)

            tasks.start_soon(take_reports)
            with self._scope:
                try:
                    await self._stay_connected()
                except ClientError as error:
                    problem = error
                except _Stopped:
                    log.info("the server stops")
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
        tries = 0
        while True:
            before = self.connections
            try:
                await self._connect_once()
            except NoServer as problem:
                if self.connections == 0:
                    if anyio.current_time() >= patience:
                        raise
                elif tries >= self._options.reconnects:
                    raise Lost(f"the connection was lost and did not come back: {problem}") from None
            except Lost as problem:
                tries = 0 if self.connections > before else tries
                if tries >= self._options.reconnects:
                    raise
                self._complain(f"{problem}; connecting again")
            pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2**tries)
            tries += 1
            # Bots that one server's end has thrown out together must not all come back at once.
            await anyio.sleep(pause * random.uniform(0.5, 1.0))

    async def _connect_once(self) -> None:
        """Hold one connection, from its handshake to its loss. Always raises."""
        connection = await open_connection(self._options.url)
        self._leave = None
        outbox, outgoing = anyio.create_memory_object_stream[ClientMessage](16 + 4 * self._options.matches)
        self._outbox = outbox

        async def write() -> None:
            try:
                async for message in outgoing:
                    log.debug("> %s", _printable(message))
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
            log.debug("< %s", _printable(message))
            welcomed = self._machine.welcomed
            self._act(self._machine.received(message, now))
            if self._machine.welcomed and not welcomed:
                self.connections += 1
                self._connected()

    async def _expect_welcome(self, connection: ClientConnection) -> None:
        await anyio.sleep(WELCOME_SECONDS)
        if not self._machine.welcomed:
            self._complain(f"no welcome came within {WELCOME_SECONDS:g} s")
            connection.transport.abort()

    def _why_gone(self, connection: ClientConnection) -> Exception:
        leave = self._leave
        if leave is not None and leave.code is Code.SHUTTING_DOWN:
            return _Stopped()
        if leave is not None and leave.code not in (Code.SERVER_FULL, Code.TOO_SLOW):
            return ServerRefused(leave.code, leave.detail)
        why = leave.detail if leave else connection.close_reason or f"close code {connection.close_code}"
        return Lost(f"the connection to {self._options.url} was lost ({why})")

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
                    self.tally.add(ending.standing(match.seat))
                    self._finished(match, ending)
                case Complain(text):
                    self._complain(text)
                case Leave():
                    self._leave = action

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
            case Broke(match, why, trace):
                if trace:
                    self._complain(trace.rstrip())
                self._act(self._machine.failed(match, why))
            case Ended(match):
                self._leaving.pop(match, None)


def _printable(message: ClientMessage | ServerMessage) -> ClientMessage | ServerMessage:
    """A message without its secrets: logs are kept, and shown to others."""
    match message:
        case Hello():
            return structs.replace(
                message, token="…" if message.token else "", session="…" if message.session else ""
            )
        case Welcome():
            return structs.replace(message, session="…")
    return message
