"""Bots of a simulated arena: real clients whose bots think in virtual time, and scripted bots that may misbehave.

A scripted bot uses the project's codec over the Sans-I/O layer of the websockets library. Its habit is the way in which
it behaves, such as answering too late at times (`late`), or never misbehaving (`plain`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from msgspec import UNSET
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from arena.bots.api.bot import Ending, Match
from arena.bots.client.client import Client
from arena.bots.client.connection import ClientError
from arena.bots.client.settings import ClientSettings
from arena.bots.client.state.actions import ChooseMove
from arena.bots.client.worker import BotEnded, BotPrepared, MoveChosen
from arena.games.catalogue import make_game
from arena.protocol.codec import DecodeError, decode_server_message, encode_message
from arena.protocol.messages import (
    SUBPROTOCOL,
    Browse,
    ClientMessage,
    End,
    Error,
    Hello,
    Listing,
    Move,
    Ping,
    Ready,
    Resign,
    ServerMessage,
    Standing,
    Start,
    Status,
    Turn,
    Unwatch,
    View,
    Watch,
    Welcome,
)
from testkit.simulation.network import PUBLIC_PORT
from testkit.simulation.world import NS_PER_SECOND, SimulatedProcess

if TYPE_CHECKING:
    from testkit.simulation.arena import SimulatedArena

SERVER_URL = f"ws://127.0.0.1:{PUBLIC_PORT}"
HONEST_HABITS = frozenset({"client", "plain", "quota", "watcher"})
"""Habits of honest bots, which must never forfeit a match. `client` is the habit of bots that use the project's real client."""
SCRIPTED_HABITS = (
    "late",
    "brink",
    "quota",
    "illegal",
    "watcher",
    "leaver",
    "plain",
    "never",
    "twice",
    "flood",
    "slow",
    "resigner",
)
"""Habits of scripted bots. The scripted bots of a run get them in turn, in this order.

late      sometimes answers after its time has run out
brink     often answers just before its time runs out
quota     accepts only a few matches, and requests more after a while
illegal   sometimes sends an illegal move
watcher   spectator, which watches some matches and plays none
leaver    sometimes disconnects, or gives up its session
plain     never misbehaves
never     sometimes sends no answer
twice     sends each answer twice, sometimes with a different second move
flood     sends 300 pings at once from time to time
slow      stops reading for up to 30 s from time to time
resigner  sometimes resigns
"""
WELCOME_TIMEOUT_NS = 10 * NS_PER_SECOND
"""Virtual time in ns for which a scripted bot waits for the answer to its hello. Then the bot drops the connection."""
MAX_NS_BEFORE_RECONNECTING = 40 * NS_PER_SECOND
"""Longest pause of a bot between its disconnection and its next connection, in virtual ns.

The pause may be longer than a server waits for a disconnected bot.
"""


class RandomMoveChooser:
    """Replacement for the thread in which a bot's code chooses a move. The replacement reports a random move after a while."""

    def __init__(self, arena: SimulatedArena, match: Match, report: Callable[[Any], None]) -> None:
        process = arena.world.running_process
        assert process is not None
        self.is_alive = True
        self.current_method = "choose"
        self._arena = arena
        self._match = match
        self._report = report
        self._process: SimulatedProcess = process
        self._rng = arena.world.make_random_generator("worker", process.name, match.id)
        self._loop = asyncio.get_running_loop()
        self._loop.call_later(self._rng.uniform(0.001, 0.2), report, BotPrepared(match.id))

    def request_move(self, order: ChooseMove) -> None:
        """Report a random move after a random thinking time in virtual time.

        order: request for a move, with the position
        """
        game = self._match.game
        move = self._rng.choice(game.moves(order.position))
        self._loop.call_later(self._arena.draw_think_seconds(self._rng), self._report_move, order, move)

    def _report_move(self, order: ChooseMove, move: Any) -> None:
        self._report(MoveChosen(order.match_id, order.ply, move, None, self._process.now_ns() / 1e9))

    def cancel_move(self) -> None:
        """Do nothing: the client ignores a move that arrives after it has cancelled the request."""

    def end_match(self, _ending: Ending | None) -> None:
        """Report to the client that the bot of the match has ended, as the real thread does."""
        self.is_alive = False
        self._loop.call_soon(self._report, BotEnded(self._match.id))

    def interrupt_hung_bot(self) -> None:
        """Do nothing: a simulated bot never hangs."""


class SimulatedBot:
    """Bot of a simulated arena, in a simulated process of its own."""

    habit = "client"

    def __init__(self, arena: SimulatedArena, bot_number: int) -> None:
        self.arena = arena
        self.name = f"{self.habit}-{bot_number}"
        self.process: SimulatedProcess
        self.is_leaving = False
        """True once the bot accepts no more matches."""
        self.has_left = False
        """True once the bot has left for good."""
        self._number = bot_number

    def start(self) -> None:
        """Start the bot in a new simulated process, with an IP address of its own."""
        address = f"198.51.{self._number // 250}.{1 + self._number % 250}"
        self.process = SimulatedProcess(self.arena.world, self.name, address=address)
        self.process.start(self._main())

    async def _main(self) -> None:
        raise NotImplementedError

    def leave_arena(self) -> None:
        """Accept no more matches, and leave once the matches in progress are over."""
        self.is_leaving = True


class RealClientBot(SimulatedBot):
    """Simulated bot that uses the project's real client, as `arena bot` does."""

    def __init__(self, arena: SimulatedArena, bot_number: int) -> None:
        super().__init__(arena, bot_number)
        self.client: Client

    def make_settings(self) -> ClientSettings:
        """Return the client's settings: one or two parallel matches, and up to 1,000,000 s of attempts to connect for the
        first time.
        """
        return ClientSettings(
            SERVER_URL, self.name, concurrency=1 + self._number % 2, connect_wait_seconds=1e6
        )

    async def _main(self) -> None:
        settings = self.make_settings()
        make: Any = None  # the simulation's workers create no bots
        self.client = Client(
            make,
            settings,
            on_status=lambda _line: None,
            on_problem=self._handle_client_log_line,
            clock=self.process.clock,
        )
        try:
            await self.client.run()
        except ClientError as error:
            self.arena.monitor.raise_failure(f"the server refused {self.name}: {error}")
        self.has_left = True

    def _handle_client_log_line(self, line: str) -> None:
        self.arena.monitor.count_client_problem(line)

    def leave_arena(self) -> None:
        super().leave_arena()
        self.process.schedule(self.client.stop_after_current_matches)


class ScriptedBot(SimulatedBot):
    """Bot that plays random moves, and at times misbehaves according to its habit, for example sends an illegal move."""

    def __init__(self, arena: SimulatedArena, bot_number: int, habit: str) -> None:
        self.habit = habit
        super().__init__(arena, bot_number)
        self.rng = arena.world.make_random_generator("bot", self.name)
        self.session = ""
        self.game_by_match: dict[str, Any] = {}
        self.last_answer_by_match: dict[str, Move] = {}
        self.watched_match_ids: set[str] = set()
        self.quota = 2 + self.rng.randrange(4) if habit == "quota" else None
        self.connection: ScriptedConnection | None = None
        self.is_leave_confirmed = False

    async def _main(self) -> None:
        loop = asyncio.get_running_loop()
        while not self.has_left:
            try:
                _, self.connection = await loop.create_connection(
                    lambda: ScriptedConnection(self), "127.0.0.1", PUBLIC_PORT
                )
            except OSError:
                pass
            else:
                loop.call_later(WELCOME_TIMEOUT_NS / 1e9, self._abandon_connection, self.connection)
                connection = self.connection
                await connection.closed
                # Messages that the connection still held are lost.
                self.connection = None
            await anyio.sleep(self._draw_reconnect_pause_seconds())

    def _draw_reconnect_pause_seconds(self) -> float:
        if self.habit == "leaver" and self.rng.random() < 0.2 and not self.is_leaving:
            return self.rng.uniform(1, MAX_NS_BEFORE_RECONNECTING / 1e9)
        return self.rng.uniform(0.1, 1.5)

    def _abandon_connection(self, connection: ScriptedConnection) -> None:
        if not connection.is_welcomed:
            connection.transport.abort()

    # messages

    def send_hello(self) -> None:
        """Send the hello (first message of a connection), with the id of the bot's session, if the bot has one.

        A bot with the habit `leaver` sometimes gives up its session first.
        """
        role: Any = "spectator" if self.habit == "watcher" else "bot"
        quota = 0 if self.is_leaving else self.quota
        session = self.session
        if self.habit == "leaver" and self.rng.random() < 0.3 and not self.is_leaving:
            session, self.game_by_match, self.last_answer_by_match = "", {}, {}
            self.arena.monitor.record_lost_session(self.name)
        self.send(
            Hello(
                self.name,
                role=role,
                session=session,
                matches=2 if role == "bot" else 1,
                quota=UNSET if quota is None or role != "bot" else quota,
            )
        )

    def send(self, *messages: ClientMessage) -> None:
        """Send messages in one write. Drop them if there is no open connection."""
        if self.connection is not None and self.connection.is_open:
            for message in messages:
                self.arena.monitor.record_sent_message(self.name, message)
            self.connection.send(messages)

    def handle_message(self, message: ServerMessage) -> None:
        """Check a message from the server against the invariants, and react to it."""
        self.arena.monitor.check_received_message(self.name, message)
        match message:
            case Welcome():
                self._handle_welcome(message)
            case Start(match=match, game=game, setup=setup):
                self.game_by_match.setdefault(match, make_game(game, setup))
                self.send(Ready(match))
                if self.quota:
                    self._subtract_match_from_quota(match)
            case Turn() if message.match in self.game_by_match:
                self._answer_turn(message)
            case End():
                self._handle_match_end(message.match)
            case Error(match=str(match)) if message.code == "no_such_match" and message.ply is None:
                self._handle_match_end(match)
            case Standing(quota=0):
                self.is_leave_confirmed = self.is_leaving
                self._disconnect_if_idle()
            case Listing() if self.habit == "watcher":
                self._handle_lobby_listing(message)
            case View():
                pass

    def _handle_welcome(self, message: Welcome) -> None:
        assert self.connection is not None
        self.connection.is_welcomed = True
        self.session = message.session
        if self.habit == "watcher":
            self.send(Browse())
            return
        self.send(*(Ready(match) for match in self.game_by_match))
        if self.is_leaving:
            self.send(Status(quota=0))
        if self.habit == "slow":
            self.send(Browse())
            self._call_later(self.rng.uniform(2, 20), self._pause_reading)
        if self.habit == "flood":
            self._call_later(self.rng.uniform(5, 60), self._flood_with_pings)

    def _subtract_match_from_quota(self, match_id: str) -> None:
        """Reduce the quota (matches that the bot still accepts) by a match that starts, once for each match.

        When the quota is used up, request more matches after a while.
        """
        if match_id in self.arena.monitor.quota_counted_matches.setdefault(self.name, set()):
            return
        self.arena.monitor.quota_counted_matches[self.name].add(match_id)
        self.quota = (self.quota or 1) - 1
        if not self.quota:
            self._call_later(self.rng.uniform(5, 60), self._request_more_matches)

    def _request_more_matches(self) -> None:
        if not self.is_leaving:
            self.quota = 2 + self.rng.randrange(4)
            self.send(Status(quota=self.quota))

    def _call_later(self, seconds: float, call: Callable[[], None]) -> None:
        connection = self.connection

        def call_if_open() -> None:
            if self.connection is connection:
                call()

        self.arena.world.loop.call_later(seconds, call_if_open)

    def _handle_match_end(self, match_id: str) -> None:
        self.game_by_match.pop(match_id, None)
        self.last_answer_by_match.pop(match_id, None)
        self._disconnect_if_idle()

    def _answer_turn(self, turn: Turn) -> None:
        last_answer = self.last_answer_by_match.get(turn.match)
        if last_answer is not None and last_answer.ply == turn.ply:
            self.send(last_answer)
            return
        game = self.game_by_match[turn.match]
        position = game.start()
        for move in turn.moves:
            position = game.play(position, game.move_from_data(move))
        choice = game.move_to_data(self.rng.choice(game.moves(position)))
        answer = self.last_answer_by_match[turn.match] = Move(turn.match, turn.ply, choice)
        seconds = self.arena.draw_think_seconds(self.rng)
        misbehaves = self.rng.random() < 0.08 and not self.is_leaving
        if misbehaves and self.habit == "never":
            return
        if self.habit == "brink" and not self.is_leaving and self.rng.random() < 0.7:
            seconds = self.arena.move_seconds - self.rng.uniform(0.05, 0.6)
        if misbehaves and self.habit == "late":
            seconds += self.arena.move_seconds + self.rng.uniform(-0.5, 2)
        self._call_later(seconds, partial(self._send_answer, answer, misbehaves=misbehaves))

    def _send_answer(self, answer: Move, *, misbehaves: bool) -> None:
        if self.last_answer_by_match.get(answer.match) is not answer:
            return
        if misbehaves and self.habit == "illegal":
            answer = self.last_answer_by_match[answer.match] = Move(answer.match, answer.ply, 99)
        if misbehaves and self.habit == "resigner":
            self.send(Resign(answer.match))
        elif misbehaves and self.habit == "leaver" and self.connection is not None:
            self.send(answer)
            self.connection.transport.abort() if self.rng.random() < 0.5 else self.connection.transport.close()
        elif self.habit == "twice":
            second_answer = Move(answer.match, answer.ply, (answer.move + 1) % 9) if misbehaves else answer
            self.send(answer, second_answer)
        else:
            self.send(answer)

    def _flood_with_pings(self) -> None:
        self.send(*(Ping() for _ in range(300)))
        self._call_later(self.rng.uniform(20, 200), self._flood_with_pings)

    def _pause_reading(self) -> None:
        """Stop reading from the connection for 1 to 30 s."""
        assert self.connection is not None
        self.connection.transport.pause_reading()
        self._call_later(self.rng.uniform(1, 30), self._resume_reading)

    def _resume_reading(self) -> None:
        assert self.connection is not None
        self.connection.transport.resume_reading()
        self._call_later(self.rng.uniform(5, 60), self._pause_reading)

    def _handle_lobby_listing(self, listing: Listing) -> None:
        matches_in_progress = [entry.match for entry in listing.matches]
        for match in sorted(self.watched_match_ids - set(matches_in_progress)):
            self.watched_match_ids.discard(match)
        if self.is_leaving:
            self._disconnect()
        elif matches_in_progress and len(self.watched_match_ids) < 4 and self.rng.random() < 0.5:
            match = self.rng.choice(matches_in_progress)
            self.watched_match_ids.add(match)
            self.send(Watch(match))
        elif self.watched_match_ids and self.rng.random() < 0.1:
            match = min(self.watched_match_ids)
            self.watched_match_ids.discard(match)
            self.send(Unwatch(match))

    # leaving

    def leave_arena(self) -> None:
        super().leave_arena()
        self.process.schedule(self._start_leaving)

    def _start_leaving(self) -> None:
        self.quota = 0
        if self.habit == "watcher":
            self._disconnect()
            return
        self.send(Status(quota=0))

    def _disconnect_if_idle(self) -> None:
        """Disconnect if no match is in progress, and the server has confirmed that the bot will get no more matches."""
        if self.is_leave_confirmed and not self.game_by_match:
            self._disconnect()

    def _disconnect(self) -> None:
        self.has_left = True
        if self.connection is not None:
            self.connection.transport.close()


class ScriptedConnection(asyncio.Protocol):
    """Websocket connection of a scripted bot, on a simulated transport."""

    def __init__(self, bot: ScriptedBot) -> None:
        self.is_welcomed = False
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.transport: Any
        self._bot = bot
        self._websocket = ClientProtocol(
            parse_uri(SERVER_URL), subprotocols=[Subprotocol(SUBPROTOCOL)], max_size=None
        )

    @property
    def is_open(self) -> bool:
        """True from the end of the opening handshake until either side begins to close."""
        return self._websocket.state is State.OPEN and not self.transport.is_closing()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self._websocket.send_request(self._websocket.connect())
        self._flush()

    def data_received(self, data: bytes) -> None:
        before = self._websocket.state
        self._websocket.receive_data(data)
        if before is State.CONNECTING and self._websocket.state is State.OPEN:
            self._bot.connection = self
            self._bot.send_hello()
        for event in self._websocket.events_received():
            if isinstance(event, Frame) and event.opcode is Opcode.BINARY:
                try:
                    message = decode_server_message(bytes(event.data))
                except DecodeError as error:
                    self._bot.arena.monitor.raise_failure(
                        f"the server sent {self._bot.name} an invalid message: {error}"
                    )
                    continue
                self._bot.handle_message(message)
        self._flush()

    def send(self, messages: Any) -> None:
        """Send messages to the server, each in a websocket frame of its own."""
        for message in messages:
            self._websocket.send_binary(encode_message(message))
        self._flush()

    def _flush(self) -> None:
        for data in self._websocket.data_to_send():
            if data:
                self.transport.write(data)
            elif self.transport.can_write_eof():
                self.transport.write_eof()
        if self._websocket.close_expected():
            self._bot.arena.world.loop.call_later(1, self.transport.abort)

    def eof_received(self) -> None:
        self._websocket.receive_eof()
        self._flush()

    def connection_lost(self, _error: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)
