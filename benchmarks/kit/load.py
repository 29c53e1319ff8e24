"""Load for the server's benchmarks: many minimal bots in one process.

The bots always play the same match, that of `benchmarks.kit.script`, so they need no time to think.
"""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Struct
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Subprotocol

from arena.protocol.codec import encode
from arena.protocol.messages import SUBPROTOCOL, Accept, Browse, Challenge, Hello, Move, Ready, Watch
from arena.protocol.timecontrol import TimeControl
from benchmarks.kit.script import GAME, ID, MAP, make_script
from benchmarks.relay import ANSWER

RULE_REASONS = ("armies", "elimination", "ply_limit")
"""End reasons of matches that ended by the rules. Any other reason counts as a forfeit."""

JOINING_SECONDS = 0.5
"""Average pause of a bot before a move, in seconds, while others connect. Without it, the last ones would time out."""

MAX_PARALLEL_CONNECTS = 50
"""Number of bots per process that may connect at once. With more, the last of a thousand would time out."""

RETRY_SECONDS = 0.3
"""Seconds from a failed challenge to the next one."""
TIME_CONTROL = TimeControl.parse("60+1")

MOVE = encode(Move(ID, 50, make_script()[50]))
"""Payload of a frame to a relay, as large as a typical `move` message."""


class BotMessage(Struct):
    """Message from the server, with only the fields that are needed here. Its moves are not decoded, to save time."""

    type: str
    match: Any = ""
    ply: Any = 0
    reason: str = ""
    code: str = ""
    challenge: str = ""
    opponent: str = ""
    outcome: str = ""
    matches: list[dict[str, Any]] = []


_decoder = msgspec.msgpack.Decoder(BotMessage)


@dataclass
class Load:
    """Counters that the bots of one run share.

    moves: number of acknowledged moves
    forfeits: end reasons of matches that did not end by the rules
    connected: number of bots and spectators that have connected
    errors: codes of `error` messages, and texts of connection errors
    """

    moves: int = 0
    forfeits: list[str] = field(default_factory=list)
    connected: int = 0
    errors: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """Time from sending a move to its acknowledgement, in seconds, for each move."""
    joining: bool = False
    """True while some bots have not connected yet. Until then, all bots pause longer before their moves."""
    connecting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_PARALLEL_CONNECTS))
    """Semaphore that each bot holds while it connects, which limits the number of these bots."""

    def draw_pause(self, seconds: float) -> float:
        """Return a random pause of `seconds` on average, more if `joining`, so that bots do not move in step."""
        mean = max(seconds, JOINING_SECONDS) if self.joining else seconds
        return mean and mean * random.uniform(0.2, 1.8)


async def run_arena_bot(
    url: str,
    name: str,
    load: Load,
    pause: float = 0.0,
    *,
    token: str = "",
    pool: bool = True,
    source: str | None = None,
    opponent: str = "",
) -> None:
    """Play match after match by `benchmarks.kit.script` until cancelled. Connection errors end in `load.errors`.

    pause     average pause before each move, in seconds
    token     token of the name; empty for none
    pool      True if the server's matchmaker may pair the bot
    source    local address to connect from; None for the default
    opponent  bot to challenge repeatedly; empty for none. Incoming challenges are always accepted.
    """
    try:
        async with AsyncExitStack() as stack:
            async with load.connecting:
                connection = await stack.enter_async_context(open_connection(url, source))
                await connection.send(encode(Hello(name, token, pool=pool)))
                output = _decoder.decode(await connection.recv())
            if output.type == "welcome":
                load.connected += 1
            else:
                load.errors.append(output.code)
            bot = _Bot(connection, name, load, pause, opponent)
            await bot.handle_challenges(output)
            async for frame in connection:
                output = _decoder.decode(frame)
                await bot.handle_challenges(output)
                await bot.handle_match_message(output)
    except (OSError, ConnectionClosed, InvalidHandshake) as error:
        load.errors.append(str(error))


@dataclass
class _Bot:
    """Connected bot that plays the match of `benchmarks.kit.script`."""

    connection: ClientConnection
    name: str
    load: Load
    pause: float
    opponent: str
    sent: float = 0.0
    """Time at which the latest move was sent, in seconds of `time.perf_counter`."""

    async def handle_challenges(self, message: BotMessage) -> None:
        """Accept a challenge, or challenge the opponent again if a match or a challenge is over."""
        match message.type:
            case "challenged" if message.opponent == self.name:
                await self.connection.send(encode(Accept(message.challenge)))
            case "welcome" | "end" if self.opponent:
                await self._challenge()
            case "challenge_over" if self.opponent and message.outcome != "accepted":
                await asyncio.sleep(RETRY_SECONDS)
                await self._challenge()
            case "error" if self.opponent and message.code in ("opponent_unavailable", "rate_limited"):
                await asyncio.sleep(RETRY_SECONDS)
                await self._challenge()

    async def handle_match_message(self, message: BotMessage) -> None:
        """React to a message about a match: send `ready`, play a move, or count a move, forfeit or error."""
        match message.type:
            case "start":
                await self.connection.send(encode(Ready(message.match)))
            case "turn":
                if wait := self.load.draw_pause(self.pause):
                    await asyncio.sleep(wait)
                self.sent = time.perf_counter()
                await self.connection.send(
                    encode(Move(message.match, message.ply, make_script()[message.ply]))
                )
            case "accepted":
                self.load.moves += 1
                self.load.seconds.append(time.perf_counter() - self.sent)
            case "end" if message.reason not in RULE_REASONS:
                self.load.forfeits.append(message.reason)
            case "error":
                self.load.errors.append(message.code)

    async def _challenge(self) -> None:
        challenge = Challenge(self.opponent, GAME, MAP, TIME_CONTROL, "maxie", rated=False)
        await self.connection.send(encode(challenge))


async def run_spectator(url: str, name: str, load: Load) -> None:
    """Watch every match until cancelled, and read all messages about the matches."""
    watched_matches: set[str] = set()
    try:
        async with AsyncExitStack() as stack:
            async with load.connecting:
                connection = await stack.enter_async_context(open_connection(url))
                await connection.send(encode(Hello(name, role="spectator")))
                await connection.recv()
            load.connected += 1
            await connection.send(encode(Browse()))
            async for frame in connection:
                for live in _decoder.decode(frame).matches:
                    if live["match"] not in watched_matches:
                        watched_matches.add(live["match"])
                        await connection.send(encode(Watch(live["match"])))
    except (OSError, ConnectionClosed, InvalidHandshake) as error:
        load.errors.append(str(error))


async def run_relay_bot(url: str, load: Load, pause: float = 0.0) -> None:
    """Play through a relay until cancelled: send a frame as large as a move `pause` s, on average, after each turn."""
    sent_at = 0.0
    try:
        async with AsyncExitStack() as stack:
            async with load.connecting:
                connection = await stack.enter_async_context(open_connection(url))
            load.connected += 1
            async for frame in connection:
                if frame[0] == ANSWER:
                    load.seconds.append(time.perf_counter() - sent_at)
                    continue
                if wait := load.draw_pause(pause):
                    await asyncio.sleep(wait)
                load.moves += 1
                sent_at = time.perf_counter()
                await connection.send(MOVE)
    except (OSError, ConnectionClosed, InvalidHandshake) as error:
        load.errors.append(str(error))


def open_connection(url: str, source: str | None = None) -> Any:
    """Return a context manager that connects to a server or a relay. `source`: local address; None for the default."""
    return connect(
        url,
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        compression=None,
        proxy=None,
        open_timeout=60,
        ping_interval=None,
        local_addr=(source, 0) if source else None,
    )


async def measure_rate(load: Load, warm_up_seconds: float, seconds: float) -> float:
    """Wait for `warm_up_seconds`, and return the moves per second during the `seconds` that follow."""
    await asyncio.sleep(warm_up_seconds)
    before, start_time = load.moves, time.perf_counter()
    await asyncio.sleep(seconds)
    return (load.moves - before) / (time.perf_counter() - start_time)


async def wait_until_all_connected(load: Load, count: int) -> None:
    """Wait until `count` bots have connected. Raises RuntimeError after 120 s."""
    end = time.monotonic() + 120
    while load.connected < count and time.monotonic() < end:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    if load.connected < count:
        raise RuntimeError(
            f"only {load.connected} of {count} bots connected; first errors: {load.errors[:3]}"
        )
