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
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Subprotocol

from arena.protocol.codec import encode
from arena.protocol.messages import SUBPROTOCOL, Hello, Move, Ready
from benchmarks.kit.script import ID, script
from benchmarks.relay import ANSWER

RULES = ("armies", "elimination", "ply_limit")
"""How a match ends by the rules; anything else is a forfeit."""

JOINING_SECONDS = 0.5
"""What each bot takes for a move on the average while others are still coming in: a server lets newcomers wait for
whoever plays, and with hundreds that play as fast as they can the last of them would come too late."""

AT_ONCE = 50
"""Bots of a process that come in at the same time: the last of a thousand is then not the one whose time for that runs out."""

MOVE = encode(Move(ID, 50, script()[50]))
"""A frame as large as a move's."""


class Told(Struct):
    """What a bot that plays by the script needs of a message; the moves so far are passed over unread."""

    type: str
    match: Any = ""
    ply: Any = 0
    reason: str = ""
    code: str = ""


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
) -> None:
    """Match after match by the script, `pause` seconds before each move on the average; until cancelled.

    source: the address to come from, where that matters
    """
    moves = script()
    sent = 0.0
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
            async for frame in connection:
                told = _told.decode(frame)
                match told.type:
                    case "start":
                        await connection.send(encode(Ready(told.match)))
                    case "turn":
                        if wait := load.pause(pause):
                            await asyncio.sleep(wait)
                        sent = time.perf_counter()
                        await connection.send(encode(Move(told.match, told.ply, moves[told.ply])))
                    case "accepted":
                        load.moves += 1
                        load.seconds.append(time.perf_counter() - sent)
                    case "end":
                        if told.reason not in RULES:
                            load.forfeits.append(told.reason)
                    case "error":
                        load.errors.append(told.code)
    except (OSError, ConnectionClosed, InvalidHandshake) as error:
        load.errors.append(str(error))


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
