"""Bots that play one chosen opponent each, by the script: so it is known on which servers of an arena both are."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from arena.protocol.codec import encode
from arena.protocol.messages import Accept, Challenge, Hello, Move, Ready
from arena.protocol.timecontrol import TimeControl
from benchmarks.kit.load import RULES, Load, line_to
from benchmarks.kit.script import MAP, script

AGAIN_SECONDS = 0.3
"""From a challenge that came to nothing to the next."""
CLOCK = TimeControl.parse("60+1")


class Told(Struct):
    """What such a bot needs of a message."""

    type: str
    match: Any = ""
    ply: Any = 0
    reason: str = ""
    code: str = ""
    challenge: str = ""
    opponent: str = ""
    outcome: str = ""


_told = msgspec.msgpack.Decoder(Told)


async def paired_bot(url: str, name: str, load: Load, pause: float, opponent: str = "") -> None:
    """Match after match against one opponent, whom it challenges; without one, against whoever challenges it. Until cancelled."""
    try:
        async with line_to(url) as connection:
            bot = _Bot(connection, name, load, pause, opponent)
            await connection.send(encode(Hello(name, pool=False)))
            async for frame in connection:
                told = _told.decode(frame)
                await bot.arrange(told)
                await bot.play(told)
    except (OSError, ConnectionClosed, InvalidHandshake) as error:
        load.errors.append(str(error))


@dataclass
class _Bot:
    """One of them, connected."""

    connection: ClientConnection
    name: str
    load: Load
    pause: float
    opponent: str
    sent: float = 0.0

    async def arrange(self, told: Told) -> None:
        """Look after the next match."""
        match told.type:
            case "challenged" if told.opponent == self.name:
                await self.connection.send(encode(Accept(told.challenge)))
            case "welcome" | "end" if self.opponent:
                await self._challenge()
            case "challenge_over" if self.opponent and told.outcome != "accepted":
                await self._challenge(AGAIN_SECONDS)
            case "error" if self.opponent and told.code in ("bad_challenge", "rate_limited"):
                await self._challenge(AGAIN_SECONDS)

    async def play(self, told: Told) -> None:
        """Play the match, and count."""
        match told.type:
            case "welcome":
                self.load.connected += 1
            case "start":
                await self.connection.send(encode(Ready(told.match)))
            case "turn":
                await asyncio.sleep(self.pause * random.uniform(0.2, 1.8))
                self.sent = time.perf_counter()
                await self.connection.send(encode(Move(told.match, told.ply, script()[told.ply])))
            case "accepted":
                self.load.moves += 1
                self.load.seconds.append(time.perf_counter() - self.sent)
            case "end" if told.reason not in RULES:
                self.load.forfeits.append(told.reason)
            case "error":
                self.load.errors.append(told.code)

    async def _challenge(self, pause: float = 0.0) -> None:
        await asyncio.sleep(pause)
        asked = Challenge(self.opponent, "riskless", MAP, CLOCK, "maxie", rated=False)
        await self.connection.send(encode(asked))
