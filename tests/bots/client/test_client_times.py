"""bots.client.client: pauses and time limits, on a virtual clock and with connections in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import UNSET
from websockets.exceptions import ConnectionClosedError

from arena.bots.client import client as client_module
from arena.bots.client.client import (
    BOT_STOP_TIMEOUT_SECONDS,
    CHALLENGE_RETRY_INTERVAL_SECONDS,
    FINAL_RATING_TIMEOUT_SECONDS,
    IDLE_SECONDS_BEFORE_STATUS_REQUEST,
    MAX_PAUSE_BEFORE_FIRST_CONNECTION_SECONDS,
    RESIGNED_MATCH_END_TIMEOUT_SECONDS,
    STATUS_REQUEST_INTERVAL_SECONDS,
    WELCOME_TIMEOUT_SECONDS,
    Client,
)
from arena.bots.client.connection import ConnectionLost, NoServer
from arena.bots.client.settings import ClientSettings
from arena.bots.client.state.reconnection import (
    FIRST_RECONNECT_PAUSE_AFTER_SHUTDOWN_SECONDS,
    FIRST_RECONNECT_PAUSE_SECONDS,
    MAX_RECONNECT_PAUSE_SECONDS,
)
from arena.protocol.codec import decode_client_message, encode_message
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import (
    Challenge,
    ClientMessage,
    Error,
    Hello,
    ServerMessage,
    Standing,
    Status,
)
from testkit.virtual_time import VIRTUAL_CLOCK
from tests.bots.client.observed_client import STOP, First
from tests.bots.server_messages import end, start, welcome
from tests.virtual import virtual


class MemoryConnection:
    """Connection in memory: the methods that a client uses, and methods for the test's server."""

    def __init__(self) -> None:
        self.started_at = VIRTUAL_CLOCK.now()
        self.received: list[tuple[float, ClientMessage]] = []
        self.close_reason, self.close_code = "", 1006
        self.transport = SimpleNamespace(abort=self.reset)
        self.answers: dict[type, ServerMessage] = {}
        """Server's answer to each message of the client, by the type of the client's message."""
        self._to_client: asyncio.Queue[ServerMessage | None] = asyncio.Queue()

    # methods that the client uses

    async def send(self, frame: bytes) -> None:
        message = decode_client_message(frame)
        self.received.append((VIRTUAL_CLOCK.now() - self.started_at, message))
        if type(message) in self.answers:
            self.deliver(self.answers[type(message)])

    async def recv(self) -> bytes:
        message = await self._to_client.get()
        if message is None:
            raise ConnectionClosedError(None, None)
        return encode_message(message)

    async def close(self) -> None:
        self.reset()

    # methods of the server

    def deliver(self, *messages: ServerMessage) -> None:
        for message in messages:
            self._to_client.put_nowait(message)

    def reset(self) -> None:
        self._to_client.put_nowait(None)

    def list_times(self, kind: type) -> list[float]:
        """Return the time of each message of the type `kind`, in seconds since the connection was opened."""
        return [at for at, message in self.received if isinstance(message, kind)]


class FakeServer:
    """Server that runs the first script on its first connection, and so on; the last script also on later ones."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *scripts: Callable[[MemoryConnection], None]) -> None:
        self.connections: list[MemoryConnection] = []
        self.attempts: list[float] = []
        """Times of all attempts to connect."""
        self.problems: list[str] = []
        self.status_lines: list[str] = []
        self._scripts = scripts
        monkeypatch.setattr(client_module, "open_connection", self._open)
        monkeypatch.setattr("arena.bots.client.client.random.uniform", lambda _least, most: most)

    async def _open(self, _url: str) -> MemoryConnection:
        self.attempts.append(VIRTUAL_CLOCK.now())
        script = self._scripts[min(len(self.attempts), len(self._scripts)) - 1]
        connection = MemoryConnection()
        script(connection)
        self.connections.append(connection)
        return connection

    def client(self, **options: Any) -> Client:
        options = {"url": "ws://here", "name": "me", **options}
        tell, complain = self.status_lines.append, self.problems.append
        return Client(
            First, ClientSettings(**options), on_status=tell, on_problem=complain, clock=VIRTUAL_CLOCK
        )

    @property
    def pauses(self) -> list[float]:
        """Times between consecutive attempts to connect, in seconds."""
        return [round(later - now, 6) for now, later in pairwise(self.attempts)]


def refuse(_connection: MemoryConnection) -> None:
    raise NoServer("nobody answers")


def welcome_and_reset(connection: MemoryConnection) -> None:
    connection.deliver(welcome())
    connection.reset()


def send_welcome(connection: MemoryConnection) -> None:
    connection.deliver(welcome())


def event_over(connection: MemoryConnection) -> None:
    connection.deliver(STOP)


@virtual
async def test_the_pause_after_a_loss_doubles_up_to_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    server = FakeServer(monkeypatch, welcome_and_reset, *[refuse] * 14, event_over)
    await server.client().run()
    doubled = [FIRST_RECONNECT_PAUSE_SECONDS * 2**tries for tries in range(15)]
    assert server.pauses == pytest.approx([min(MAX_RECONNECT_PAUSE_SECONDS, each) for each in doubled])


@virtual
async def test_the_first_pause_after_a_shutdown_is_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    def stops(connection: MemoryConnection) -> None:
        connection.deliver(welcome(), Error(ErrorCode.SHUTTING_DOWN, "the server stops", fatal=True))

    server = FakeServer(monkeypatch, stops, refuse, refuse, event_over)
    await server.client().run()
    assert server.pauses == pytest.approx(
        [
            FIRST_RECONNECT_PAUSE_AFTER_SHUTDOWN_SECONDS,
            2 * FIRST_RECONNECT_PAUSE_AFTER_SHUTDOWN_SECONDS,
            4 * FIRST_RECONNECT_PAUSE_AFTER_SHUTDOWN_SECONDS,
        ]
    )


@virtual
async def test_pauses_grow_while_connections_are_lost_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lasts(connection: MemoryConnection) -> None:
        connection.deliver(welcome())
        VIRTUAL_CLOCK.call_later(1, connection.reset)

    server = FakeServer(monkeypatch, *[welcome_and_reset] * 3, lasts, event_over)
    await server.client().run()
    # After the connection that lasted longer than the pause before it, the pauses start from the shortest again.
    assert server.pauses == pytest.approx([0.1, 0.2, 0.4, 1 + 0.1])


@virtual
async def test_it_gives_up_after_the_maximum_number_of_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    server = FakeServer(monkeypatch, welcome_and_reset, refuse)
    with pytest.raises(ConnectionLost, match="could not be restored"):
        await server.client(max_reconnect_attempts=3).run()
    assert server.pauses == pytest.approx([0.1, 0.2, 0.4])


@virtual
async def test_a_client_waits_for_a_server_that_has_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    server = FakeServer(monkeypatch, refuse)
    with pytest.raises(NoServer):
        await server.client(connect_wait_seconds=60).run()
    assert 60 <= server.attempts[-1] - server.attempts[0] < 60 + MAX_PAUSE_BEFORE_FIRST_CONNECTION_SECONDS
    assert max(server.pauses) == MAX_PAUSE_BEFORE_FIRST_CONNECTION_SECONDS


@virtual
async def test_a_client_that_gives_up_without_a_connection_ends_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = FakeServer(monkeypatch, welcome_and_reset, refuse)
    client = server.client()
    # In the pause before the next attempt.
    VIRTUAL_CLOCK.call_later(FIRST_RECONNECT_PAUSE_SECONDS / 2, client.resign_all)
    await client.run()
    assert VIRTUAL_CLOCK.now() - server.attempts[0] == pytest.approx(FIRST_RECONNECT_PAUSE_SECONDS / 2)


@virtual
async def test_a_client_leaves_a_server_that_sends_no_welcome(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(_connection: MemoryConnection) -> None: ...

    server = FakeServer(monkeypatch, silent, event_over)
    await server.client().run()
    assert server.pauses == pytest.approx([WELCOME_TIMEOUT_SECONDS + FIRST_RECONNECT_PAUSE_SECONDS])
    assert server.problems[0] == f"the server sent no welcome within {WELCOME_TIMEOUT_SECONDS:g} s"


@virtual
async def test_an_idle_bot_requests_its_status_every_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = FakeServer(monkeypatch, send_welcome)
    client = server.client()
    VIRTUAL_CLOCK.call_later(200, client.stop)
    await client.run()
    [connection] = server.connections
    request_times = connection.list_times(Status)
    assert len(request_times) == 4
    assert request_times == pytest.approx(
        [IDLE_SECONDS_BEFORE_STATUS_REQUEST + STATUS_REQUEST_INTERVAL_SECONDS * number for number in range(4)]
    )
    assert connection.list_times(Hello) == pytest.approx([0])


@virtual
async def test_an_unsuccessful_challenge_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(connection: MemoryConnection) -> None:
        connection.deliver(welcome())
        connection.answers[Challenge] = Error(ErrorCode.OPPONENT_UNAVAILABLE, "anna is not here")

    server = FakeServer(monkeypatch, refuses)
    client = server.client(challenge=Challenge("anna", game="tictactoe"))
    VIRTUAL_CLOCK.call_later(4.5 * CHALLENGE_RETRY_INTERVAL_SECONDS, client.stop)
    await client.run()
    [connection] = server.connections
    assert connection.list_times(Challenge) == pytest.approx(
        [CHALLENGE_RETRY_INTERVAL_SECONDS * number for number in range(5)]
    )
    assert len(server.problems) == 1


@virtual
async def test_a_resigning_client_waits_for_its_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = FakeServer(monkeypatch, send_welcome)
    client = server.client()
    started_at = VIRTUAL_CLOCK.now()
    VIRTUAL_CLOCK.call_later(1, client.resign_all)
    await client.run()
    assert VIRTUAL_CLOCK.now() - started_at <= 1 + RESIGNED_MATCH_END_TIMEOUT_SECONDS


class Unready:
    """BotWorker without a thread, because threads do not use the virtual clock. Its bot is never ready."""

    is_alive = False

    def __init__(self, *_: object) -> None: ...

    def end_match(self, _ending: object) -> None: ...


def finishing(rating: float | None = None) -> Standing:
    ratings = UNSET if rating is None else {"tictactoe": rating}
    return Standing("finishing", "takes no more matches; 0 in play", 0, ratings)


@pytest.mark.parametrize(
    ("rated", "counted_after", "ends_after"),
    [
        (True, [1.0, 1.5], 1.5),
        (True, [1.0], FINAL_RATING_TIMEOUT_SECONDS),
        (True, [], FINAL_RATING_TIMEOUT_SECONDS),
        (False, [], 0),
    ],
)
@virtual
async def test_after_its_last_match_a_client_waits_for_its_last_rating(
    monkeypatch: pytest.MonkeyPatch, *, rated: bool, counted_after: list[float], ends_after: float
) -> None:
    def plays(connection: MemoryConnection) -> None:
        connection.deliver(
            welcome(), finishing(1500), start("m", rated=rated), start("n", rated=rated), finishing(1500)
        )
        connection.deliver(end([], "m", "maxie"), end([], "n", "maxie"), finishing(1500))
        for number, seconds in enumerate(counted_after, 1):
            VIRTUAL_CLOCK.call_later(
                seconds, lambda number=number: connection.deliver(finishing(1500 + 10 * number))
            )

    server = FakeServer(monkeypatch, plays)
    monkeypatch.setattr(client_module, "BotWorker", Unready)
    started_at = VIRTUAL_CLOCK.now()
    assert (await server.client(quota=2, concurrency=2).run()).won == 2
    assert ends_after <= VIRTUAL_CLOCK.now() - started_at < ends_after + BOT_STOP_TIMEOUT_SECONDS + 0.1
    changes = [line for line in server.status_lines if "(+10)" in line]
    assert len(changes) == len(counted_after)
