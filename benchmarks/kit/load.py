"""Load for the server's benchmark: many bots in one process that do as little as a bot can."""

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
from arena.protocol.messages import SUBPROTOCOL, Accept, Challenge, Hello, Move, Ready
from arena.protocol.timecontrol import TimeControl
from benchmarks.kit.script import GAME, ID, MAP, script
from benchmarks.relay import ANSWER

RULES = ("armies", "elimination", "ply_limit")
"""How a match ends by the rules; anything else is a forfeit."""

JOINING_SECONDS = 0.5
"""What each bot takes for a move on the average while others are still coming in: a server lets newcomers wait for
whoever plays, and with hundreds that play as fast as they can the last of them would come too late."""

AT_ONCE = 50
"""Bots of a process that come in at the same time: the last of a thousand is then not the one whose time for that runs out."""

AGAIN_SECONDS = 0.3
"""From a challenge that came to nothing to the next."""
CLOCK = TimeControl.parse("60+1")

MOVE = encode(Move(ID, 50, script()[50]))
"""A frame as large as a move's."""


class Told(Struct):
    """What a bot that plays by the script needs of a message; the moves so far are passed over unread."""

    type: str
    match: Any = ""
    ply: Any = 0
    reason: str = ""
    code: str = ""
    challenge: str = ""
    opponent: str = ""
    outcome: str = ""


_told = msgspec.msgpack.Decoder(Told)


@dataclass
class Load:
    """What the bots of one run have counted together."""

    moves: int = 0
    forfeits: list[str] = field(default_factory=list)
    connected: int = 0
    errors: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """From the sending of each move to its acknowledgement."""
    joining: bool = False
    """Whether others are still to come in, so that nobody plays as fast as it can."""
    entrance: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    """Held by whoever is just coming in."""

    def pause(self, seconds: float) -> float:
        """What a bot takes for its next move that takes so many seconds on the average.

        Bots of different makes do not move in step, as those of one burst would.
        """
        mean = max(seconds, JOINING_SECONDS) if self.joining else seconds
        return mean and mean * random.uniform(0.2, 1.8)


async def arena_bot(
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
    """Play match after match by the script, `pause` seconds before each move on the average; until cancelled.

    source    address to come from
    opponent  bot to challenge, again and again; every challenge is accepted
    """
    try:
        async with AsyncExitStack() as stack:
            async with load.entrance:
                connection = await stack.enter_async_context(line_to(url, source))
                await connection.send(encode(Hello(name, token, pool=pool)))
                told = _told.decode(await connection.recv())
            if told.type == "welcome":
                load.connected += 1
            else:
                load.errors.append(told.code)
            bot = _Bot(connection, name, load, pause, opponent)
            await bot.arrange(told)
            async for frame in connection:
                told = _told.decode(frame)
                await bot.arrange(told)
                await bot.play(told)
    except (OSError, ConnectionClosed, InvalidHandshake) as error:
        load.errors.append(str(error))


@dataclass
class _Bot:
    """Connected bot that plays by the script."""

    connection: ClientConnection
    name: str
    load: Load
    pause: float
    opponent: str
    sent: float = 0.0
    """Time at which the latest move was sent."""

    async def arrange(self, told: Told) -> None:
        """Accept challenges, and challenge the opponent again when a match or a challenge is over."""
        match told.type:
            case "challenged" if told.opponent == self.name:
                await self.connection.send(encode(Accept(told.challenge)))
            case "welcome" | "end" if self.opponent:
                await self._challenge()
            case "challenge_over" if self.opponent and told.outcome != "accepted":
                await asyncio.sleep(AGAIN_SECONDS)
                await self._challenge()
            case "error" if self.opponent and told.code in ("bad_challenge", "rate_limited"):
                await asyncio.sleep(AGAIN_SECONDS)
                await self._challenge()

    async def play(self, told: Told) -> None:
        """Play the match, and count."""
        match told.type:
            case "start":
                await self.connection.send(encode(Ready(told.match)))
            case "turn":
                if wait := self.load.pause(self.pause):
                    await asyncio.sleep(wait)
                self.sent = time.perf_counter()
                await self.connection.send(encode(Move(told.match, told.ply, script()[told.ply])))
            case "accepted":
                self.load.moves += 1
                self.load.seconds.append(time.perf_counter() - self.sent)
            case "end" if told.reason not in RULES:
                self.load.forfeits.append(told.reason)
            case "error":
                self.load.errors.append(told.code)

    async def _challenge(self) -> None:
        asked = Challenge(self.opponent, GAME, MAP, CLOCK, "maxie", rated=False)
        await self.connection.send(encode(asked))


async def relay_bot(url: str, load: Load, pause: float = 0.0) -> None:
    """A frame as large as a move, `pause` seconds after every frame that says that it is one's turn, on the average."""
    sent = 0.0
    try:
        async with AsyncExitStack() as stack:
            async with load.entrance:
                connection = await stack.enter_async_context(line_to(url))
            load.connected += 1
            async for frame in connection:
                if frame[0] == ANSWER:
                    load.seconds.append(time.perf_counter() - sent)
                    continue
                if wait := load.pause(pause):
                    await asyncio.sleep(wait)
                load.moves += 1
                sent = time.perf_counter()
                await connection.send(MOVE)
    except (OSError, ConnectionClosed, InvalidHandshake) as error:
        load.errors.append(str(error))


def line_to(url: str, source: str | None = None) -> Any:
    """A connection to a server or a relay, to be entered; from the address `source` where that matters."""
    return connect(
        url,
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        compression=None,
        proxy=None,
        open_timeout=60,
        ping_interval=None,
        local_addr=(source, 0) if source else None,
    )


async def measured(load: Load, warm: float, seconds: float) -> float:
    """Moves a second, after a time to get going."""
    await asyncio.sleep(warm)
    before, began = load.moves, time.perf_counter()
    await asyncio.sleep(seconds)
    return (load.moves - before) / (time.perf_counter() - began)


async def all_in(load: Load, count: int) -> None:
    """Wait until so many have been welcomed. Raises RuntimeError."""
    end = time.monotonic() + 120
    while load.connected < count and time.monotonic() < end:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    if load.connected < count:
        raise RuntimeError(f"{load.connected} of {count} bots came in: {load.errors[:3]}")
