"""Every kind of request that a server answers, sent by strangers who keep within all limits.

Every kind of message and of GET is here, by the name that the server's own tables of costs have for it, and some of
them also in the dearest form that is allowed.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from benchmarks.hostile.stranger import Stranger, Tally, Told, again_and_again, entered, get
from benchmarks.kit.script import script

REFUSED_SECONDS = 0.1
"""From a refusal to the next try of a client whose next step depends on the answer."""
LINE = 64
"""Moves of a main line: as many as a move may tell."""
THINKERS = "thinker-a", "thinker-b"
"""Who played the finished matches in which every move has thinking at its bound."""
HOUSE = "house-random"
CLOCK = {"base_ms": 60_000, "increment_ms": 1_000, "per_move": False}


@dataclass
class World:
    """What there is to be asked for."""

    url: str
    tokens: dict[str, str]
    live: list[str] = field(default_factory=list)
    """Matches in progress."""
    finished: list[str] = field(default_factory=list)
    long: list[str] = field(default_factory=list)
    """Finished matches with thinking at its bound."""
    own: list[tuple[str, str]] = field(default_factory=list)
    """Matches of a client's own, and its name."""
    file: str = "/web/"

    @property
    def names(self) -> list[str]:
        """The names under which clients play."""
        return sorted(self.tokens)


@dataclass
class Client:
    """One client of an order."""

    world: World
    number: int
    source: str
    tally: Tally
    answers: frozenset[str]
    stranger: Stranger | None = None

    @property
    def line(self) -> Stranger:
        """Its connection. Raises EOFError where it was not let in."""
        if self.stranger is None:
            raise EOFError("it was not let in")
        return self.stranger

    async def sending(self, work: Callable[[], Awaitable[None]]) -> None:
        """Send, and read all that comes meanwhile."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.line.read_all(self.answers))
            await work()


@dataclass(frozen=True)
class Kind:
    """A kind of request: what it is in the server's tables, and how a client sends it until it is cancelled."""

    of: str
    """The type of the message, or `GET` and the path as the table has it."""
    work: Callable[[Client], Awaitable[None]]
    answers: frozenset[str] = frozenset()
    role: str = "bot"
    """What the clients say they are; empty for those that have no websocket."""


def sends(type: str, *answers: str, role: str = "bot", **content: object) -> Kind:
    """The same message again and again."""

    async def work(client: Client) -> None:
        async def send() -> None:
            while True:
                await client.line.say(type=type, **content)

        await client.sending(send)

    return Kind(type, work, frozenset(answers), role)


def gets(
    path: str, made: Callable[[World, int], str], who: Callable[[World, int], str] | None = None
) -> Kind:
    """A plain GET again and again, each on a connection of its own; `made` makes the path of the nth."""

    async def work(client: Client) -> None:
        numbers = itertools.count(client.number)

        async def once() -> None:
            number = next(numbers)
            credentials = who(client.world, number) if who else ""
            await get(client.world.url, client.source, made(client.world, number), client.tally, credentials)

        await again_and_again(once, client.tally)

    return Kind(f"GET {path}", work, role="")


async def hello(client: Client) -> None:
    """Come in and leave."""

    async def once() -> None:
        client.tally.sent += 1
        async with entered(client.world.url, client.source, client.tally, name="visitor", role="spectator"):
            client.tally.answered += 1

    await again_and_again(once, client.tally)


def challenges(**content: object) -> Kind:
    """Challenges for whoever comes, each withdrawn as soon as it is open."""

    async def work(client: Client) -> None:
        stranger = client.line
        opened: list[str] = []

        async def hear() -> None:
            while True:
                told = await stranger.hear()
                stranger.count(told, client.answers)
                if told.type == "challenged" and told.challenger == stranger.name:
                    opened.append(told.challenge)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(hear())
            while True:
                if opened:
                    await stranger.say(type="withdraw", challenge=opened.pop())
                await stranger.say(type="challenge", opponent="", rated=False, time_control=CLOCK, **content)

    return Kind("challenge", work, frozenset({"challenged"}))


Step = Callable[[Client, Told], Awaitable[None]]
"""What a client does at the start of a match, or at its turn."""


def plays(of: str, start: Step, turn: Step | None = None, *answers: str, **content: object) -> Kind:
    """Matches of the clients of one address among themselves, by challenges."""

    async def work(client: Client) -> None:
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
                told = await stranger.hear()
                stranger.count(told, client.answers)
                if told.type == "challenged" and not asks:
                    to_accept = told.challenge
                    await stranger.say(type="accept", challenge=to_accept)
                elif told.code == "rate_limited":
                    await asyncio.sleep(REFUSED_SECONDS)
                    await (ask() if asks else stranger.say(type="accept", challenge=to_accept))
                elif told.type == "start":
                    tasks.create_task(_quietly(start(client, told)))
                elif told.type == "turn" and turn is not None:
                    await turn(client, told)
                elif told.type == "end" and asks:
                    await ask()

    return Kind(of, work, frozenset(answers))


async def _quietly(step: Awaitable[None]) -> None:
    with suppress(OSError):
        await step


async def is_ready(client: Client, told: Told) -> None:
    """Say it once, as is asked."""
    await client.line.say_asked(type="ready", match=told.match)


async def is_ready_again(client: Client, told: Told) -> None:
    """Say it without end; the opponent does so too."""
    while True:
        await client.line.say(type="ready", match=told.match)


async def resigns(client: Client, told: Told) -> None:
    """Give the match up as it begins; the opponent does so too."""
    await client.line.say(type="resign", match=told.match)


async def moves(client: Client, told: Told) -> None:
    """Play on at once."""
    await _move(client, told)


async def moves_thinking(client: Client, told: Told) -> None:
    """Play on at once, and tell as much thinking as a move may have."""
    ply = told.ply or 0
    line = (script() * 2)[ply : ply + LINE]
    await _move(client, told, thinking={"depth": 99_999, "value": 1.0, "nodes": 2**60, "line": line})


async def _move(client: Client, told: Told, **more: object) -> None:
    client.tally.sent += 1
    ply = told.ply or 0
    await client.line.say_asked(type="move", match=told.match, ply=ply, move=script()[ply], **more)


async def watches(client: Client) -> None:
    """Watch every match there is, and each again and again."""

    async def send() -> None:
        while True:
            for match in client.world.live or ["none"]:
                await client.line.say(type="watch", match=match)

    await client.sending(send)


async def is_guest(client: Client) -> None:
    """Play the house, match after match."""
    stranger = client.line

    async def ask() -> None:
        await stranger.say(
            type="challenge", opponent=HOUSE, game="tictactoe", rated=False, time_control=CLOCK
        )

    await ask()
    while True:
        told = await stranger.hear()
        stranger.count(told, client.answers)
        if told.type == "start":
            await is_ready(client, told)
        elif told.type == "turn":
            cell = next(cell for cell in range(9) if cell not in told.moves)
            await stranger.say_asked(type="move", match=told.match, ply=told.ply, move=cell)
        elif told.type == "end" or told.code:
            await asyncio.sleep(REFUSED_SECONDS)
            await ask()


def _board(number: int) -> str:
    """A board of path4 that is seldom asked for twice."""
    return f"%2B{1 + number % 9}%20.%20.%20-{1 + number // 9 % 9}%20maxie%20{number // 81 % 100}"


def _one_of(found: Sequence[str], number: int) -> str:
    return found[number % len(found)] if found else "none"


def _credentials(world: World, number: int) -> str:
    name = world.own[number % len(world.own)][1]
    return f"{name}:{world.tokens[name]}"


KINDS: dict[str, Kind] = {
    "hello": Kind("hello", hello, role=""),
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
    "guests": Kind("challenge", is_guest, frozenset({"challenged"}), "guest"),
}
