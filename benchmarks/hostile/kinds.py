"""Kinds of requests that strangers (hostile clients) send within all limits, and attacks that break the limits.

REQUEST_KINDS has an entry for every type of message and every GET route. Some types and routes have a second entry, for the
most expensive request that is allowed. The attacks come from `testkit/attackers.py`. In the kind SILENT_CONTROL_KIND,
strangers connect and send nothing.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import uuid
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from dataclasses import dataclass, replace

import msgspec

from arena.bots.client.state.moves import MAX_MAIN_LINE_MOVES
from arena.server.web.credentials import make_basic_auth_header
from benchmarks.hostile.stranger import (
    RequestParameters,
    Stranger,
    repeat_until_cancelled,
    send_http_request,
)
from benchmarks.kit.client import ServerMessage, connect
from benchmarks.kit.scripted_match import make_scripted_moves
from testkit import attackers

PAUSE_AFTER_REFUSAL_SECONDS = 0.1
"""Pause after a refusal, in seconds, before a client repeats a request that it needs for its next step, such as a challenge."""
THINKING_BOT_NAMES = "thinker-a", "thinker-b"
"""Players of the finished matches in which every move has analysis (`thinking`) of maximum size."""
HOUSE_BOT_NAME = "house-random"
REVOKED_BOTS = [f"revoked {number}" for number in range(20)]
"""Names of bots whose tokens were revoked before the benchmark."""
MATCH_TIME_CONTROL = {"base_ms": 60_000, "increment_ms": 1_000, "per_move": False}
"""Time control of the strangers' own matches, as in a `challenge` message."""


@dataclass(frozen=True)
class RequestKind:
    """Kind of request that strangers (hostile clients, with or without a token) send.

    send_requests: function that sends the requests of one stranger until it is cancelled
    answer_types: types of the messages that count as answers
    """

    request_name: str
    """Type of the message to send, or method and route of the HTTP request (such as `GET /api/table`); empty for an attack."""
    send_requests: Callable[[Stranger], Awaitable[None]]
    answer_types: frozenset[str] = frozenset()
    role: str = "bot"
    """Role that the clients state in their hello; empty if `send_requests` opens all connections itself."""
    server_options: tuple[str, ...] = ()
    """Further options of `arena serve`. Kinds with the same options share a server."""

    @property
    def is_attack(self) -> bool:
        """True if this is an attack: the clients break the server's limits."""
        return not self.request_name


def make_message_kind(
    message_type: str, *answer_types: str, role: str = "bot", **content: object
) -> RequestKind:
    """Return the kind of request in which strangers send a message of this type, with this content, again and again.

    answer_types: types of messages that count as answers
    role: role of the clients, as in their hello
    """

    async def send_requests(stranger: Stranger) -> None:
        async def send_until_cancelled() -> None:
            while True:
                await stranger.send(type=message_type, **content)

        await stranger.send_while_reading(send_until_cancelled)

    return RequestKind(message_type, send_requests, frozenset(answer_types), role)


MakeUrlPath = Callable[[RequestParameters, int], str]
"""Function that returns the URL path of a request, given ids and names that exist on the server, and the request's number."""


def make_http_kind(
    route: str,
    url_path: str | MakeUrlPath,
    make_authorization: Callable[[RequestParameters, int], str] | None = None,
    method: str = "GET",
) -> RequestKind:
    """Return the kind of request in which strangers repeat an HTTP request, each time on a new connection.

    route: route of the request, such as `/api/table`, by which the server looks up what the request costs
    url_path: URL path to request, or a function that returns it
    make_authorization: function that returns the Authorization header, given ids and names that exist on the server and the
        request's number; None to send no header
    """

    async def send_requests(stranger: Stranger) -> None:
        numbers = itertools.count(stranger.number)

        async def send_next_request() -> None:
            number = next(numbers)
            authorization = make_authorization(stranger.parameters, number) if make_authorization else ""
            path = url_path if isinstance(url_path, str) else url_path(stranger.parameters, number)
            await send_http_request(
                stranger.parameters.url, stranger.source_address, path, stranger.counts, authorization, method
            )

        await repeat_until_cancelled(send_next_request, stranger.counts)

    return RequestKind(f"{method} {route}", send_requests, role="")


def make_hello_kind(make_hello: Callable[[Stranger], dict[str, object]]) -> RequestKind:
    """Return the kind of request in which strangers connect, send a hello and disconnect, again and again.

    make_hello: function that returns the fields of the next hello
    """

    async def send_requests(stranger: Stranger) -> None:
        async def connect_once() -> None:
            stranger.counts.request_count += 1
            hello = make_hello(stranger)
            with closing(await connect(stranger.parameters.url, stranger.source_address, **hello)):
                if hello["name"] in REVOKED_BOTS:
                    raise RuntimeError("the server accepted a revoked token")
                stranger.counts.answer_count += 1

        await repeat_until_cancelled(connect_once, stranger.counts)

    return RequestKind("hello", send_requests, role="")


def make_challenge_kind(**content: object) -> RequestKind:
    """Return the kind of request in which strangers open challenges that any bot may accept, and withdraw each at once.

    content: game or map of the challenges
    """

    async def send_requests(stranger: Stranger) -> None:
        opened: list[str] = []

        async def read_challenges() -> None:
            while True:
                message = await stranger.receive()
                if message.type == "challenged" and message.challenger == stranger.name:
                    opened.append(message.challenge)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(read_challenges())
            while True:
                if opened:
                    await stranger.send(type="withdraw", challenge=opened.pop())
                await stranger.send(
                    type="challenge", opponent="", rated=False, time_control=MATCH_TIME_CONTROL, **content
                )

    return RequestKind("challenge", send_requests, frozenset({"challenged"}))


HandleMatchMessage = Callable[[Stranger, ServerMessage], Awaitable[None]]
"""Function that lets a stranger (hostile client) react to a `start` or `turn` message that it has received."""


def make_match_kind(
    request_name: str,
    on_start: HandleMatchMessage,
    on_turn: HandleMatchMessage | None = None,
    *answer_types: str,
    **content: object,
) -> RequestKind:
    """Return the kind of request in which pairs of strangers play match after match, by challenges.

    request_name: type of the message whose cost to the server is measured, such as `move`
    on_start: action at the start of a match
    on_turn: action on each turn; None to do nothing
    answer_types: types of the messages that count as answers
    content: game or map to play
    """

    async def play_matches(stranger: Stranger) -> None:
        names = stranger.parameters.bot_names
        is_challenger, opponent = stranger.number % 2 == 0, names[stranger.number ^ 1]

        async def send_challenge() -> None:
            await stranger.send(
                type="challenge", opponent=opponent, rated=False, time_control=MATCH_TIME_CONTROL, **content
            )

        if is_challenger:
            await send_challenge()
        to_accept = ""
        async with asyncio.TaskGroup() as tasks:
            while True:
                message = await stranger.receive()
                if message.type == "challenged" and not is_challenger:
                    to_accept = message.challenge
                    await stranger.send(type="accept", challenge=to_accept)
                elif message.code == "rate_limited":
                    await asyncio.sleep(PAUSE_AFTER_REFUSAL_SECONDS)
                    await (
                        send_challenge()
                        if is_challenger
                        else stranger.send(type="accept", challenge=to_accept)
                    )
                elif message.type == "start":
                    tasks.create_task(_await_ignoring_os_errors(on_start(stranger, message)))
                elif message.type == "turn" and on_turn is not None:
                    await on_turn(stranger, message)
                elif message.type == "end" and is_challenger:
                    await send_challenge()

    return RequestKind(request_name, play_matches, frozenset(answer_types))


async def _await_ignoring_os_errors(awaitable: Awaitable[None]) -> None:
    with suppress(OSError):
        await awaitable


async def send_ready(stranger: Stranger, message: ServerMessage) -> None:
    """Send the message `ready` once, by which a bot reports at the start of a match that it is prepared."""
    await stranger.send_without_rate_limit(type="ready", match=message.match)


async def send_ready_repeatedly(stranger: Stranger, message: ServerMessage) -> None:
    """Send `ready` again and again. Both players of the match do so."""
    while True:
        await stranger.send(type="ready", match=message.match)


async def send_resignation(stranger: Stranger, message: ServerMessage) -> None:
    """Resign at the start of the match. Both players do so; the first resignation ends the match."""
    await stranger.send(type="resign", match=message.match)


async def play_move(stranger: Stranger, message: ServerMessage, **extra_content: object) -> None:
    """Answer a turn at once with the next move of the match that all benchmark bots play (`benchmarks.kit.scripted_match`).

    extra_content: additional fields of the `move` message
    """
    stranger.counts.request_count += 1
    await stranger.send_without_rate_limit(
        type="move",
        match=message.match,
        ply=message.ply,
        move=make_scripted_moves()[message.ply],
        **extra_content,
    )


async def play_move_with_analysis(stranger: Stranger, message: ServerMessage) -> None:
    """Answer a turn at once with the move of the match that all benchmark bots play, and with the largest allowed analysis
    (`thinking`).
    """
    line = (make_scripted_moves() * 2)[message.ply : message.ply + MAX_MAIN_LINE_MOVES]
    await play_move(stranger, message, thinking={"depth": 99_999, "value": 1.0, "nodes": 2**60, "line": line})


async def watch_live_matches_repeatedly(stranger: Stranger) -> None:
    """Send `watch` for all matches in progress, again and again."""

    async def send_until_cancelled() -> None:
        while True:
            for match in stranger.parameters.live_match_ids or ["none"]:
                await stranger.send(type="watch", match=match)

    await stranger.send_while_reading(send_until_cancelled)


async def play_house_engines(stranger: Stranger) -> None:
    """Challenge the server's own bot HOUSE_BOT_NAME to match after match, and play them."""

    async def send_challenge() -> None:
        await stranger.send(
            type="challenge",
            opponent=HOUSE_BOT_NAME,
            game="tictactoe",
            rated=False,
            time_control=MATCH_TIME_CONTROL,
        )

    await send_challenge()
    while True:
        message = await stranger.receive()
        if message.type == "start":
            await send_ready(stranger, message)
        elif message.type == "turn":
            moves = msgspec.msgpack.decode(message.moves)
            cell = next(cell for cell in range(9) if cell not in moves)
            await stranger.send_without_rate_limit(
                type="move", match=message.match, ply=message.ply, move=cell
            )
        elif message.type == "end" or message.code:
            await asyncio.sleep(PAUSE_AFTER_REFUSAL_SECONDS)
            await send_challenge()


def _make_position_query_value(request_number: int) -> str:
    """Return a position on the map `path4`, URL-encoded. Numbers from 0 to 8,099 give different positions; higher numbers
    repeat them.
    """
    return f"%2B{1 + request_number % 9}%20.%20.%20-{1 + request_number // 9 % 9}%20maxie%20{request_number // 81 % 100}"


def _make_authorization(parameters: RequestParameters, request_number: int) -> str:
    name = parameters.match_ids_and_bots[request_number % len(parameters.match_ids_and_bots)][1]
    return make_basic_auth_header(name, parameters.tokens[name])


ATTACKER_COUNT = 16
"""Number of parallel attackers of one kind, all from one address."""
HELLO_TIMEOUT_SECONDS = 2.0
"""Server's time limit for a hello, in seconds: short enough that attackers are disconnected within a round."""
ALL_ATTACKS_KIND = "attack: all at once"


def make_attack_kind(*attack_names: str) -> RequestKind:
    """Return the kind that runs the named attacks of `testkit.attackers` at the same time, each from an address of its own."""

    async def run_attacks(stranger: Stranger) -> None:
        name = attack_names[stranger.number // ATTACKER_COUNT]
        await attackers.run_attacker(name, stranger.parameters.url, stranger.source_address, stranger.counts)

    server_options = ("--anyone", f"--set=limits.hello_seconds={HELLO_TIMEOUT_SECONDS}")
    return RequestKind("", run_attacks, role="", server_options=server_options)


GET_PATH_BY_ROUTE: dict[str, str | MakeUrlPath] = {
    "/": "/",
    "/match/": lambda parameters, number: f"/match/{parameters.pick_finished_match(number)}/{number}",
    "/embed/": lambda parameters, number: f"/embed/{parameters.pick_finished_match(number)}",
    "/bot/": lambda _, number: f"/bot/bot%20{number % 100}",
    "/event/": "/event/serve",
    "/table/": lambda _, number: "/table/serve" if number % 2 else "/table",
    "/play/": lambda _, number: f"/play/bot%20{number % 100}",
    "/file/": "/file",
    "/maps/": "/maps/world",
    "/versus/": lambda _, number: f"/versus/bot%20{number % 100}/bot%201",
    "/search/": "/search?map=m2",
    "/tv/": "/tv",
    "/sw.js": "/sw.js",
    "/picture/": lambda parameters, number: (
        f"/picture/match/{parameters.pick_finished_match(number)}/{number % 40}.png"
    ),
    "/film/": lambda parameters, number: f"/film/{parameters.pick_finished_match(number)}.gif",
    "/web/": lambda parameters, _: parameters.script_path,
    "/healthz": "/healthz",
    "/readyz": "/readyz",
    "/metrics": "/metrics",
    "/api/about": "/api/about",
    "/api/truth/": lambda parameters, number: f"/api/truth/{parameters.pick_finished_match(number)}",
    "/api/game/": lambda _, number: f"/api/game/connect4?moves=[{number % 7}]",
    "/api/advice/": lambda _, number: f"/api/advice/path4?position={_make_position_query_value(number)}",
    "/api/review/": lambda parameters, number: f"/api/review/{parameters.pick_finished_match(number)}",
    "/api/review": lambda _, number: f"/api/review?game=tictactoe&moves=[{number % 9}]",
    "/api/openings/": lambda _, number: f"/api/openings/path4?position={_make_position_query_value(number)}",
    "/api/map/": "/api/map/world",
    "/api/records": lambda _, number: f"/api/records?limit={1 + number % 50}",
    "/api/record/": lambda parameters, number: f"/api/record/{parameters.pick_finished_match(number)}",
    "/api/table": lambda _, number: "/api/table" if number % 2 else "/api/table?event=serve",
    "/api/maps": "/api/maps",
    "/api/search": lambda _, number: f"/api/search?map=m2&result=drawn&bot=bot%20{number % 100}",
    "/api/versus": lambda _, number: f"/api/versus?bot=bot%20{number % 100}&opponent=bot%201",
    "/api/event": "/api/event?name=serve",
    "/api/bot": lambda _, number: f"/api/bot?name=bot%20{number % 100}",
    "/api/bot/": lambda _, number: f"/api/bot/bot%20{number % 100}",
    "/join/": "/join/none",
    "/me/": "/me",
    "/events.ics": "/events.ics",
    "/api/table.csv": "/api/table.csv?event=serve",
    "/host/": "/host",
}
"""URL path to request for each GET route that needs no token, or a function that returns the path."""
POST_QUERY_BY_ROUTE = {
    "/api/host": "",
    "/api/me": "",
    "/api/me/enter": "?event=none&name=one",
    "/api/me/withdraw": "?event=none&name=one",
    "/api/token/create": "?name=one",
    "/api/token/rotate": "?name=one",
    "/api/token/revoke": "?name=one",
}
"""Query of the request for each POST route that needs a bot's token."""
SILENT_CONTROL_KIND = "nothing"
"""Name of the kind in which the strangers send nothing. So a delay measured for this kind shows the error of the measurement."""


REQUEST_KINDS: dict[str, RequestKind] = {
    SILENT_CONTROL_KIND: RequestKind(SILENT_CONTROL_KIND, Stranger.receive_until_closed),
    "hello": make_hello_kind(lambda _: {"name": "visitor", "role": "spectator"}),
    "names": replace(
        make_hello_kind(lambda _: {"name": uuid.uuid4().hex, "pool": False}), server_options=("--anyone",)
    ),
    "names of guests": make_hello_kind(lambda _: {"name": f"guest-{random.randrange(10**6)}", "pool": False}),
    "names whose token was revoked": make_hello_kind(
        lambda stranger: {"name": REVOKED_BOTS[stranger.number % len(REVOKED_BOTS)], "token": "x" * 32}
    ),
    "ready": make_match_kind("ready", send_ready_repeatedly, game="tictactoe"),
    "move": make_match_kind("move", send_ready, play_move, "accepted", map="m2"),
    "move, thinking at its bound": make_match_kind(
        "move", send_ready, play_move_with_analysis, "accepted", map="m2"
    ),
    "resign": make_match_kind("resign", send_resignation, None, "end", game="tictactoe"),
    "ready, of a match that is over": make_message_kind("ready", match="none"),
    "move, of a match that is over": make_message_kind("move", match="none", ply=0, move=0),
    "resign, of a match that is over": make_message_kind("resign", match="none"),
    "hello, again": make_message_kind("hello", name="somebody"),
    "status": make_message_kind("status", "standing"),
    "challenge": make_challenge_kind(game="tictactoe"),
    "challenge, the largest map": make_challenge_kind(map="grid:10x20"),
    "accept, the largest map": make_match_kind(
        "accept", send_resignation, None, "challenge_over", map="ring:200"
    ),
    "decline": make_message_kind("decline", challenge="c0"),
    "withdraw": make_message_kind("withdraw", challenge="c0"),
    "watch": RequestKind("watch", watch_live_matches_repeatedly, frozenset({"view"}), "spectator"),
    "unwatch": make_message_kind("unwatch", match="none", role="spectator"),
    "browse": make_message_kind("browse", "listing", role="spectator"),
    "enter": make_message_kind("enter", event="none"),
    "leave": make_message_kind("leave", event="none"),
    "ping": make_message_kind("ping", "pong", role="spectator"),
    **{f"GET {route}": make_http_kind(route, path) for route, path in GET_PATH_BY_ROUTE.items()},
    "GET /api/records, thinking at its bound": make_http_kind(
        "/api/records", lambda _, number: f"/api/records?limit={1 + number % 50}&bot={THINKING_BOT_NAMES[0]}"
    ),
    "GET /api/record/, thinking at its bound": make_http_kind(
        "/api/record/",
        lambda parameters, number: (
            f"/api/record/{parameters.large_match_ids[number % len(parameters.large_match_ids)]}"
        ),
    ),
    "GET /api/log/": make_http_kind(
        "/api/log/",
        lambda parameters, number: (
            f"/api/log/{parameters.match_ids_and_bots[number % len(parameters.match_ids_and_bots)][0]}"
        ),
        _make_authorization,
    ),
    **{
        f"POST {route}": make_http_kind(route, route + query, _make_authorization, "POST")
        for route, query in POST_QUERY_BY_ROUTE.items()
    },
    "POST /api/join": make_http_kind("/api/join", "/api/join?name=one", method="POST"),
    "guests": RequestKind("challenge", play_house_engines, frozenset({"challenged"}), "guest"),
    **{f"attack: {name}": make_attack_kind(name) for name in attackers.ATTACK_BY_KIND},
    ALL_ATTACKS_KIND: make_attack_kind(*attackers.ATTACK_BY_KIND),
}
