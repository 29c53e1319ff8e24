"""bots.client.client: waiting times, on a virtual clock and connections in memory."""

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
    CHALLENGE_SECONDS,
    CLOSE_SECONDS,
    IDLE_SECONDS,
    MAX_FIRST_CONNECT_PAUSE_SECONDS,
    RATING_SECONDS,
    RESIGN_SECONDS,
    STATUS_INTERVAL_SECONDS,
    WELCOME_SECONDS,
    Client,
)
from arena.bots.client.connection import ConnectionLost, NoServer
from arena.bots.client.settings import ClientSettings
from arena.bots.client.state.reconnection import FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS, STOP_PAUSE_SECONDS
from arena.protocol.codec import decode_client_message, encode
from arena.protocol.codes import Code
from arena.protocol.messages import (
    Challenge,
    ClientMessage,
    Error,
    Hello,
    ServerMessage,
    Standing,
    Status,
)
from testkit.virtual_time import CLOCK
from tests.bots.client.watched import STOP, First
from tests.bots.wirework import end, start, welcome
from tests.virtual import virtual


class Line:
    """A connection in memory: the client's end, with what the client uses of one, and what it has said."""

    def __init__(self) -> None:
        self.began = CLOCK.now()
        self.heard: list[tuple[float, ClientMessage]] = []
        self.close_reason, self.close_code = "", 1006
        self.transport = SimpleNamespace(abort=self.cut)
        self.answers: dict[type, ServerMessage] = {}
        """Answers to each message of a type."""
        self._said: asyncio.Queue[ServerMessage | None] = asyncio.Queue()

    # the client's end

    async def send(self, frame: bytes) -> None:
        message = decode_client_message(frame)
        self.heard.append((CLOCK.now() - self.began, message))
        if type(message) in self.answers:
            self.say(self.answers[type(message)])

    async def recv(self) -> bytes:
        message = await self._said.get()
        if message is None:
            raise ConnectionClosedError(None, None)
        return encode(message)

    async def close(self) -> None:
        self.cut()

    # the test's end

    def say(self, *messages: ServerMessage) -> None:
        for message in messages:
            self._said.put_nowait(message)

    def cut(self) -> None:
        self._said.put_nowait(None)

    def times_of(self, kind: type) -> list[float]:
        """Return the seconds from the beginning to each message of that type."""
        return [at for at, message in self.heard if isinstance(message, kind)]


class World:
    """A server that answers each connection by the next of the scripts; the last serves all that follow."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *scripts: Callable[[Line], None]) -> None:
        self.lines: list[Line] = []
        self.tries: list[float] = []
        """Times of all tries to connect."""
        self.complaints: list[str] = []
        self.told: list[str] = []
        self._scripts = scripts
        monkeypatch.setattr(client_module, "open_connection", self._open)
        monkeypatch.setattr("arena.bots.client.client.random.uniform", lambda _least, most: most)

    async def _open(self, _url: str) -> Line:
        self.tries.append(CLOCK.now())
        script = self._scripts[min(len(self.tries), len(self._scripts)) - 1]
        line = Line()
        script(line)
        self.lines.append(line)
        return line

    def client(self, **options: Any) -> Client:
        options = {"url": "ws://here", "name": "me", **options}
        tell, complain = self.told.append, self.complaints.append
        return Client(First, ClientSettings(**options), on_status=tell, on_problem=complain, clock=CLOCK)

    @property
    def pauses(self) -> list[float]:
        """Times between two tries."""
        return [round(later - now, 6) for now, later in pairwise(self.tries)]


def nobody(_line: Line) -> None:
    raise NoServer("nobody answers")


def in_and_out(line: Line) -> None:
    line.say(welcome())
    line.cut()


def let_in(line: Line) -> None:
    line.say(welcome())


def event_over(line: Line) -> None:
    line.say(STOP)


@virtual
async def test_the_pause_after_a_loss_doubles_up_to_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, in_and_out, *[nobody] * 14, event_over)
    await world.client().run()
    doubled = [FIRST_PAUSE_SECONDS * 2**tries for tries in range(15)]
    assert world.pauses == pytest.approx([min(MAX_PAUSE_SECONDS, each) for each in doubled])


@virtual
async def test_a_server_that_stops_gets_a_second_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def stops(line: Line) -> None:
        line.say(welcome(), Error(Code.SHUTTING_DOWN, "the server stops", fatal=True))

    world = World(monkeypatch, stops, nobody, nobody, event_over)
    await world.client().run()
    assert world.pauses == pytest.approx([STOP_PAUSE_SECONDS, 2 * STOP_PAUSE_SECONDS, 4 * STOP_PAUSE_SECONDS])


@virtual
async def test_a_connection_that_is_lost_at_once_again_and_again_is_waited_for_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lasts(line: Line) -> None:
        line.say(welcome())
        CLOCK.call_later(1, line.cut)

    world = World(monkeypatch, *[in_and_out] * 3, lasts, event_over)
    await world.client().run()
    # The one that lasted for longer than its pause begins anew.
    assert world.pauses == pytest.approx([0.1, 0.2, 0.4, 1 + 0.1])


@virtual
async def test_it_gives_up_after_so_many_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, in_and_out, nobody)
    with pytest.raises(ConnectionLost, match="could not be restored"):
        await world.client(reconnects=3).run()
    assert world.pauses == pytest.approx([0.1, 0.2, 0.4])


@virtual
async def test_a_server_that_is_not_there_yet_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, nobody)
    with pytest.raises(NoServer):
        await world.client(wait=60).run()
    assert 60 <= world.tries[-1] - world.tries[0] < 60 + MAX_FIRST_CONNECT_PAUSE_SECONDS
    assert max(world.pauses) == MAX_FIRST_CONNECT_PAUSE_SECONDS


@virtual
async def test_a_client_that_gives_up_without_a_connection_ends_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(monkeypatch, in_and_out, nobody)
    client = world.client()
    # In the pause before the next try.
    CLOCK.call_later(FIRST_PAUSE_SECONDS / 2, client.resign)
    await client.run()
    assert CLOCK.now() - world.tries[0] == pytest.approx(FIRST_PAUSE_SECONDS / 2)


@virtual
async def test_a_server_that_does_not_welcome_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(_line: Line) -> None: ...

    world = World(monkeypatch, silent, event_over)
    await world.client().run()
    assert world.pauses == pytest.approx([WELCOME_SECONDS + FIRST_PAUSE_SECONDS])
    assert world.complaints[0] == f"the server sent no welcome within {WELCOME_SECONDS:g} s"


@virtual
async def test_a_bot_without_a_match_asks_after_a_while_and_then_each_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(monkeypatch, let_in)
    client = world.client()
    CLOCK.call_later(200, client.stop)
    await client.run()
    [line] = world.lines
    asked = line.times_of(Status)
    assert len(asked) == 4
    assert asked == pytest.approx([IDLE_SECONDS + STATUS_INTERVAL_SECONDS * number for number in range(4)])
    assert line.times_of(Hello) == pytest.approx([0])


@virtual
async def test_a_challenge_that_comes_to_nothing_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(line: Line) -> None:
        line.say(welcome())
        line.answers[Challenge] = Error(Code.OPPONENT_UNAVAILABLE, "anna is not here")

    world = World(monkeypatch, refuses)
    client = world.client(challenge=Challenge("anna", game="tictactoe"))
    CLOCK.call_later(4.5 * CHALLENGE_SECONDS, client.stop)
    await client.run()
    [line] = world.lines
    assert line.times_of(Challenge) == pytest.approx([CHALLENGE_SECONDS * number for number in range(5)])
    assert len(world.complaints) == 1


@virtual
async def test_a_client_that_gives_up_waits_a_while_for_its_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(monkeypatch, let_in)
    client = world.client()
    began = CLOCK.now()
    CLOCK.call_later(1, client.resign)
    await client.run()
    assert CLOCK.now() - began <= 1 + RESIGN_SECONDS


class Unready:
    """A bot without a thread, for threads do not share the virtual clock. It is never ready."""

    is_alive = False

    def __init__(self, *_: object) -> None: ...

    def finish(self, _ending: object) -> None: ...


def finishing(rating: float | None = None) -> Standing:
    ratings = UNSET if rating is None else {"tictactoe": rating}
    return Standing("finishing", "takes no more matches; 0 in play", 0, ratings)


@pytest.mark.parametrize(
    ("rated", "counted_after", "ends_after"),
    [(True, [1.0, 1.5], 1.5), (True, [1.0], RATING_SECONDS), (True, [], RATING_SECONDS), (False, [], 0)],
)
@virtual
async def test_after_its_last_match_a_client_waits_for_its_last_rating(
    monkeypatch: pytest.MonkeyPatch, *, rated: bool, counted_after: list[float], ends_after: float
) -> None:
    def plays(line: Line) -> None:
        line.say(
            welcome(), finishing(1500), start("m", rated=rated), start("n", rated=rated), finishing(1500)
        )
        line.say(end([], "m", "maxie"), end([], "n", "maxie"), finishing(1500))
        for number, seconds in enumerate(counted_after, 1):
            CLOCK.call_later(seconds, lambda number=number: line.say(finishing(1500 + 10 * number)))

    world = World(monkeypatch, plays)
    monkeypatch.setattr(client_module, "Worker", Unready)
    began = CLOCK.now()
    assert (await world.client(quota=2, matches=2).run()).won == 2
    assert ends_after <= CLOCK.now() - began < ends_after + CLOSE_SECONDS + 0.1
    changes = [line for line in world.told if "(+10)" in line]
    assert len(changes) == len(counted_after)
