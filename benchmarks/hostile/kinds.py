"""Every kind of request that a server answers, as sent by strangers who keep within all limits, and every attack.

Every type of message and every GET is here, under its name in the server's cost tables. Some are also here in the most
expensive form that is allowed. Attackers (`testkit/horde.py`) break the limits.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from arena.server.web.credentials import basic_header
from benchmarks.hostile.stranger import (
    KNOCK_SECONDS,
    Stranger,
    StrangerMessage,
    TrafficCounts,
    again_and_again,
    entered,
    get,
)
from benchmarks.kit.script import script
from testkit import horde

REFUSED_SECONDS = 0.1
"""Time from a refusal to the next attempt, for a client whose next step depends on the answer."""
LINE = 64
"""Number of moves of a main line: the most that a move may contain."""
THINKERS = "thinker-a", "thinker-b"
"""Players of the finished matches in which every move has `thinking` of maximum size."""
HOUSE = "house-random"
REVOKED = [f"revoked {number}" for number in range(20)]
"""Names whose tokens were revoked."""
CLOCK = {"base_ms": 60_000, "increment_ms": 1_000, "per_move": False}


@dataclass
class Subjects:
    """Data that requests can refer to."""

    url: str
    tokens: dict[str, str]
    live: list[str] = field(default_factory=list)
    """Ids of matches in progress."""
    finished: list[str] = field(default_factory=list)
    long: list[str] = field(default_factory=list)
    """Ids of finished matches with `thinking` of maximum size."""
    own: list[tuple[str, str]] = field(default_factory=list)
    """Matches of each client, by its name."""
    file: str = "/web/"

    @property
    def names(self) -> list[str]:
        """Names under which clients play."""
        return sorted(self.tokens)


@dataclass
class LoadClient:
    """Client of one kind of load."""

    world: Subjects
    number: int
    source: str
    tally: TrafficCounts
    answers: frozenset[str]
    pause: float = KNOCK_SECONDS
    """Pause between two requests of a control round, in seconds."""
    stranger: Stranger | None = None

    @property
    def line(self) -> Stranger:
        """Client's connection. Raises EOFError if the server refused it."""
        if self.stranger is None:
            raise EOFError("it was not let in")
        return self.stranger

    async def sending(self, work: Callable[[], Awaitable[None]]) -> None:
        """Send requests, and read all messages that arrive in between."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.line.read_all(self.answers))
            await work()


@dataclass(frozen=True)
class Kind:
    """Kind of request: its name in the server's cost tables, and a function that sends it until cancelled."""

    of: str
    """Type of the message, or `GET` with the path in the form of the cost table; empty for an attack."""
    work: Callable[[LoadClient], Awaitable[None]]
    answers: frozenset[str] = frozenset()
    role: str = "bot"
    """Role in the clients' hello; empty for clients without a websocket."""
    options: tuple[str, ...] = ()
    """Further options of the server: kinds with the same options share one."""

    @property
    def is_attack(self) -> bool:
        """True if the strangers break the limits."""
        return not self.of

    @property
    def moves(self) -> bool:
        """True if moves of the strangers, or of house bots against them, are in the server's histogram."""
        return (self.of == "move" and bool(self.answers)) or self.role == "guest"


def sends(type: str, *answers: str, role: str = "bot", **content: object) -> Kind:
    """Return a kind that sends the same message repeatedly."""

    async def work(client: LoadClient) -> None:
        async def send() -> None:
            while True:
                await client.line.say(type=type, **content)

        await client.sending(send)

    return Kind(type, work, frozenset(answers), role)


def gets(
    path: str,
    make: Callable[[Subjects, int], str],
    who: Callable[[Subjects, int], str] | None = None,
    method: str = "GET",
) -> Kind:
    """Return a kind that repeats a plain request, each on a new connection. `make` returns the path of the nth request."""

    async def work(client: LoadClient) -> None:
        numbers = itertools.count(client.number)

        async def once() -> None:
            number = next(numbers)
            authorization = who(client.world, number) if who else ""
            target = make(client.world, number)
            await get(client.world.url, client.source, target, client.tally, authorization, method)

        await again_and_again(once, client.tally)

    return Kind(f"{method} {path}", work, role="")


async def hello(client: LoadClient) -> None:
    """Connect, say hello and disconnect."""

    async def once() -> None:
        client.tally.sent += 1
        async with entered(client.world.url, client.source, client.tally, name="visitor", role="spectator"):
            client.tally.answered += 1

    await again_and_again(once, client.tally)


def new_names(make: Callable[[], str]) -> Callable[[LoadClient], Awaitable[None]]:
    """Connect as a bot and disconnect, under a new name each time."""

    async def work(client: LoadClient) -> None:
        async def once() -> None:
            client.tally.sent += 1
            async with entered(client.world.url, client.source, client.tally, name=make(), pool=False):
                client.tally.answered += 1

        await again_and_again(once, client.tally)

    return work


async def revoked(client: LoadClient) -> None:
    """Reconnect repeatedly with a revoked token."""
    name = REVOKED[client.number % len(REVOKED)]

    async def once() -> None:
        client.tally.sent += 1
        async with entered(client.world.url, client.source, client.tally, name=name, token="x" * 32):
            raise RuntimeError("a revoked token opens a name")

    await again_and_again(once, client.tally)


def challenges(**content: object) -> Kind:
    """Return a kind that opens challenges to any bot and withdraws each at once."""

    async def work(client: LoadClient) -> None:
        stranger = client.line
        opened: list[str] = []

        async def hear() -> None:
            while True:
                message = await stranger.hear()
                stranger.count(message, client.answers)
                if message.type == "challenged" and message.challenger == stranger.name:
                    opened.append(message.challenge)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(hear())
            while True:
                if opened:
                    await stranger.say(type="withdraw", challenge=opened.pop())
                await stranger.say(type="challenge", opponent="", rated=False, time_control=CLOCK, **content)

    return Kind("challenge", work, frozenset({"challenged"}))


Step = Callable[[LoadClient, StrangerMessage], Awaitable[None]]
"""Action of a client at the start of a match, or on its turn."""


def plays(of: str, start: Step, turn: Step | None = None, *answers: str, **content: object) -> Kind:
    """Return a kind in which the clients of one address play each other, by challenges."""

    async def work(client: LoadClient) -> None:
        stranger = client.line
        names = client.world.names
        asks, opponent = client.number % 2 == 0, names[client.number ^ 1]

        async def ask() -> None:
            await stranger.say(
                type="challenge", opponent=opponent, rated=False, time_control=CLOCK, **content
            )

        if asks:
            await ask()
        to_accept = ""
        async with asyncio.TaskGroup() as tasks:
            while True:
                message = await stranger.hear()
                stranger.count(message, client.answers)
                if message.type == "challenged" and not asks:
                    to_accept = message.challenge
                    await stranger.say(type="accept", challenge=to_accept)
                elif message.code == "rate_limited":
                    await asyncio.sleep(REFUSED_SECONDS)
                    await (ask() if asks else stranger.say(type="accept", challenge=to_accept))
                elif message.type == "start":
                    tasks.create_task(_quietly(start(client, message)))
                elif message.type == "turn" and turn is not None:
                    await turn(client, message)
                elif message.type == "end" and asks:
                    await ask()

    return Kind(of, work, frozenset(answers))


async def _quietly(step: Awaitable[None]) -> None:
    with suppress(OSError):
        await step


async def is_ready(client: LoadClient, message: StrangerMessage) -> None:
    """Send `ready` once, as required."""
    await client.line.say_asked(type="ready", match=message.match)


async def is_ready_again(client: LoadClient, message: StrangerMessage) -> None:
    """Send `ready` repeatedly; so does the opponent."""
    while True:
        await client.line.say(type="ready", match=message.match)


async def resigns(client: LoadClient, message: StrangerMessage) -> None:
    """Resign at the start of the match; so does the opponent."""
    await client.line.say(type="resign", match=message.match)


async def moves(client: LoadClient, message: StrangerMessage) -> None:
    """Move immediately."""
    await _move(client, message)


async def moves_thinking(client: LoadClient, message: StrangerMessage) -> None:
    """Move immediately, with `thinking` of maximum size."""
    ply = message.ply or 0
    line = (script() * 2)[ply : ply + LINE]
    await _move(client, message, thinking={"depth": 99_999, "value": 1.0, "nodes": 2**60, "line": line})


async def _move(client: LoadClient, message: StrangerMessage, **more: object) -> None:
    client.tally.sent += 1
    ply = message.ply or 0
    await client.line.say_asked(type="move", match=message.match, ply=ply, move=script()[ply], **more)


async def watches(client: LoadClient) -> None:
    """Watch all matches, each of them repeatedly."""

    async def send() -> None:
        while True:
            for match in client.world.live or ["none"]:
                await client.line.say(type="watch", match=match)

    await client.sending(send)


async def plain_requests(client: LoadClient) -> None:
    """Send a plain request to the control server after each pause."""

    async def once() -> None:
        path = urlsplit(client.world.url).path
        await get(client.world.url, client.source, path, client.tally)

    await again_and_again(once, client.tally, client.pause)


async def plain_messages(client: LoadClient) -> None:
    """Send a message to the control server after each pause."""

    async def send() -> None:
        while True:
            client.tally.sent += 1
            await client.line.say_asked(type="ping")
            await asyncio.sleep(client.pause)

    await client.sending(send)


async def is_guest(client: LoadClient) -> None:
    """Play the house engines, match after match."""
    stranger = client.line

    async def ask() -> None:
        await stranger.say(
            type="challenge", opponent=HOUSE, game="tictactoe", rated=False, time_control=CLOCK
        )

    await ask()
    while True:
        message = await stranger.hear()
        stranger.count(message, client.answers)
        if message.type == "start":
            await is_ready(client, message)
        elif message.type == "turn":
            cell = next(cell for cell in range(9) if cell not in message.moves)
            await stranger.say_asked(type="move", match=message.match, ply=message.ply, move=cell)
        elif message.type == "end" or message.code:
            await asyncio.sleep(REFUSED_SECONDS)
            await ask()


def _board(number: int) -> str:
    """Return a position of path4 that is rarely requested twice."""
    return f"%2B{1 + number % 9}%20.%20.%20-{1 + number // 9 % 9}%20maxie%20{number // 81 % 100}"


def _one_of(choices: Sequence[str], number: int) -> str:
    return choices[number % len(choices)] if choices else "none"


def _credentials(world: Subjects, number: int) -> str:
    name = world.own[number % len(world.own)][1]
    return basic_header(name, world.tokens[name])


def _posts(target: str) -> Kind:
    """Return a kind that repeats a POST with the token of a bot."""
    return gets(target.partition("?")[0], lambda _world, _number: target, _credentials, "POST")


ATTACKERS = 16
"""Number of attackers of one kind, all from one address."""
HELLO_SECONDS = 2.0
"""Time limit for a hello. It is short, so that attackers are cut off within a round."""
ALL = "attack: all at once"


def attacks(*names: str) -> Kind:
    """Return a kind that attacks in these ways, each from an address of its own."""

    async def work(client: LoadClient) -> None:
        name = names[client.number // ATTACKERS]
        await horde.attacker(name, client.world.url, client.source, client.tally)

    options = ("--anyone", f"--set=limits.hello_seconds={HELLO_SECONDS}")
    return Kind("", work, role="", options=options)


KINDS: dict[str, Kind] = {
    "hello": Kind("hello", hello, role=""),
    "names": Kind("hello", new_names(lambda: uuid.uuid4().hex), role="", options=("--anyone",)),
    "names of guests": Kind("hello", new_names(lambda: f"guest-{random.randrange(10**6)}"), role=""),
    "names whose token was revoked": Kind("hello", revoked, role=""),
    "ready": plays("ready", is_ready_again, game="tictactoe"),
    "move": plays("move", is_ready, moves, "accepted", map="m2"),
    "move, thinking at its bound": plays("move", is_ready, moves_thinking, "accepted", map="m2"),
    "resign": plays("resign", resigns, None, "end", game="tictactoe"),
    "ready, of a match that is over": sends("ready", match="none"),
    "move, of a match that is over": sends("move", match="none", ply=0, move=0),
    "resign, of a match that is over": sends("resign", match="none"),
    "hello, again": sends("hello", name="somebody"),
    "status": sends("status", "standing"),
    "challenge": challenges(game="tictactoe"),
    "challenge, the largest map": challenges(map="grid:10x20"),
    "accept, the largest map": plays("accept", resigns, None, "challenge_over", map="ring:200"),
    "decline": sends("decline", challenge="c0"),
    "withdraw": sends("withdraw", challenge="c0"),
    "watch": Kind("watch", watches, frozenset({"view"}), "spectator"),
    "unwatch": sends("unwatch", match="none", role="spectator"),
    "browse": sends("browse", "listing", role="spectator"),
    "enter": sends("enter", event="none"),
    "leave": sends("leave", event="none"),
    "ping": sends("ping", "pong", role="spectator"),
    "GET /": gets("/", lambda _world, _number: "/"),
    "GET /match/": gets(
        "/match/", lambda world, number: f"/match/{_one_of(world.finished, number)}/{number}"
    ),
    "GET /embed/": gets("/embed/", lambda world, number: f"/embed/{_one_of(world.finished, number)}"),
    "GET /bot/": gets("/bot/", lambda _world, number: f"/bot/bot%20{number % 100}"),
    "GET /event/": gets("/event/", lambda _world, _number: "/event/serve"),
    "GET /table/": gets("/table/", lambda _world, number: "/table/serve" if number % 2 else "/table"),
    "GET /play/": gets("/play/", lambda _world, number: f"/play/bot%20{number % 100}"),
    "GET /file/": gets("/file/", lambda _world, _number: "/file"),
    "GET /maps/": gets("/maps/", lambda _world, _number: "/maps/world"),
    "GET /versus/": gets("/versus/", lambda _world, number: f"/versus/bot%20{number % 100}/bot%201"),
    "GET /search/": gets("/search/", lambda _world, _number: "/search?map=m2"),
    "GET /tv/": gets("/tv/", lambda _world, _number: "/tv"),
    "GET /sw.js": gets("/sw.js", lambda _world, _number: "/sw.js"),
    "GET /picture/": gets(
        "/picture/",
        lambda world, number: f"/picture/match/{_one_of(world.finished, number)}/{number % 40}.png",
    ),
    "GET /film/": gets("/film/", lambda world, number: f"/film/{_one_of(world.finished, number)}.gif"),
    "GET /web/": gets("/web/", lambda world, _number: world.file),
    "GET /healthz": gets("/healthz", lambda _world, _number: "/healthz"),
    "GET /readyz": gets("/readyz", lambda _world, _number: "/readyz"),
    "GET /metrics": gets("/metrics", lambda _world, _number: "/metrics"),
    "GET /api/about": gets("/api/about", lambda _world, _number: "/api/about"),
    "GET /api/truth/": gets(
        "/api/truth/", lambda world, number: f"/api/truth/{_one_of(world.finished, number)}"
    ),
    "GET /api/game/": gets("/api/game/", lambda _world, number: f"/api/game/connect4?moves=[{number % 7}]"),
    "GET /api/advice/": gets(
        "/api/advice/", lambda _world, number: f"/api/advice/path4?position={_board(number)}"
    ),
    "GET /api/review/": gets(
        "/api/review/", lambda world, number: f"/api/review/{_one_of(world.finished, number)}"
    ),
    "GET /api/review": gets(
        "/api/review", lambda _world, number: f"/api/review?game=tictactoe&moves=[{number % 9}]"
    ),
    "GET /api/openings/": gets(
        "/api/openings/", lambda _world, number: f"/api/openings/path4?position={_board(number)}"
    ),
    "GET /api/map/": gets("/api/map/", lambda _world, _number: "/api/map/world"),
    "GET /api/records": gets("/api/records", lambda _world, number: f"/api/records?limit={1 + number % 50}"),
    "GET /api/records, thinking at its bound": gets(
        "/api/records", lambda _world, number: f"/api/records?limit={1 + number % 50}&bot={THINKERS[0]}"
    ),
    "GET /api/record/": gets(
        "/api/record/", lambda world, number: f"/api/record/{_one_of(world.finished, number)}"
    ),
    "GET /api/record/, thinking at its bound": gets(
        "/api/record/", lambda world, number: f"/api/record/{_one_of(world.long, number)}"
    ),
    "GET /api/table": gets(
        "/api/table", lambda _world, number: "/api/table" if number % 2 else "/api/table?event=serve"
    ),
    "GET /api/maps": gets("/api/maps", lambda _world, _number: "/api/maps"),
    "GET /api/search": gets(
        "/api/search", lambda _world, number: f"/api/search?map=m2&result=drawn&bot=bot%20{number % 100}"
    ),
    "GET /api/versus": gets(
        "/api/versus", lambda _world, number: f"/api/versus?bot=bot%20{number % 100}&opponent=bot%201"
    ),
    "GET /api/event": gets("/api/event", lambda _world, _number: "/api/event?name=serve"),
    "GET /api/bot": gets("/api/bot", lambda _world, number: f"/api/bot?name=bot%20{number % 100}"),
    "GET /api/bot/": gets("/api/bot/", lambda _world, number: f"/api/bot/bot%20{number % 100}"),
    "GET /api/log/": gets(
        "/api/log/",
        lambda world, number: f"/api/log/{world.own[number % len(world.own)][0]}",
        _credentials,
    ),
    "GET /join/": gets("/join/", lambda _world, _number: "/join/none"),
    "GET /me/": gets("/me/", lambda _world, _number: "/me"),
    "GET /events.ics": gets("/events.ics", lambda _world, _number: "/events.ics"),
    "GET /api/table.csv": gets("/api/table.csv", lambda _world, _number: "/api/table.csv?event=serve"),
    "GET /host/": gets("/host/", lambda _world, _number: "/host"),
    "POST /api/host": _posts("/api/host"),
    "POST /api/join": gets("/api/join", lambda _world, _number: "/api/join?name=one", method="POST"),
    "POST /api/me": _posts("/api/me"),
    "POST /api/me/enter": _posts("/api/me/enter?event=none&name=one"),
    "POST /api/me/withdraw": _posts("/api/me/withdraw?event=none&name=one"),
    "POST /api/token/create": _posts("/api/token/create?name=one"),
    "POST /api/token/rotate": _posts("/api/token/rotate?name=one"),
    "POST /api/token/revoke": _posts("/api/token/revoke?name=one"),
    "guests": Kind("challenge", is_guest, frozenset({"challenged"}), "guest"),
    **{f"attack: {name}": attacks(name) for name in horde.KINDS},
    ALL: attacks(*horde.KINDS),
}

CONNECTIONS, MESSAGES = "control: connections", "control: messages"
CONTROLS: dict[str, Kind] = {
    CONNECTIONS: Kind("GET", plain_requests, role=""),
    MESSAGES: Kind("ping", plain_messages, frozenset({"pong"}), "spectator"),
}
"""Kinds that are sent to a plain server, as often and with as large answers as the arena's busiest kind of that sort."""


def control_of(kind: Kind) -> str:
    """Return the control of a kind: whether its strangers connect again and again, or stay connected."""
    return MESSAGES if kind.role else CONNECTIONS
