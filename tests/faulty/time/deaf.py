"""Thinks in its event loop, so that nobody answers a ping meanwhile."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

import msgpack
from websockets.asyncio.client import connect

SUBPROTOCOL: Any = "arena.v1.msgpack"


async def run() -> None:
    async with connect(os.environ["ARENA_URL"], subprotocols=[SUBPROTOCOL]) as socket:
        await socket.send(msgpack.packb({"type": "hello", "name": "deaf", "games": ["tictactoe"]}))
        async for frame in socket:
            assert isinstance(frame, bytes)
            message = msgpack.unpackb(frame)
            if message["type"] == "start":
                await socket.send(msgpack.packb({"type": "ready", "match": message["match"]}))
            elif message["type"] == "turn":
                time.sleep(5)  # noqa: ASYNC251 - its fault
                answer = {key: message[key] for key in ("match", "ply")}
                await socket.send(msgpack.packb({**answer, "type": "move", "move": 4}))


if __name__ == "__main__":
    asyncio.run(run())
