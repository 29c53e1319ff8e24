"""Load for the server's benchmark: many bots in one process that do as little as a bot can."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Struct
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Subprotocol

from benchmarks.kit.script import ID, script
from benchmarks.relay import ANSWER
from protocol.codec import encode
from protocol.messages import SUBPROTOCOL, Hello, Move, Ready

RULES = ("armies", "elimination", "ply_limit")
"""How a match ends by the rules; anything else is a forfeit."""

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
        async with line_to(url, source) as connection:
            await connection.send(encode(Hello(name, token, pool=pool)))
            async for frame in connection:
                told = _told.decode(frame)
                match told.type:
                    case "welcome":
                        load.connected += 1
                    case "start":
                        await connection.send(encode(Ready(told.match)))
                    case "turn":
                        if pause:
                            # Bots of different makes do not move in step, as those of one burst would.
                            await asyncio.sleep(pause * random.uniform(0.2, 1.8))
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
    try:
        async with line_to(url) as connection:
            load.connected += 1
            async for frame in connection:
                if frame[0] != ANSWER:
                    if pause:
                        await asyncio.sleep(pause * random.uniform(0.2, 1.8))
                    load.moves += 1
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
