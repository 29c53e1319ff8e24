"""An honest bot for tic-tac-toe as a task of the test: it takes the first empty cell, and keeps what it hears."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgpack
from websockets.asyncio.client import ClientConnection, connect

from testkit.wire import SUBPROTOCOL, find_free_cell


@dataclass
class Honest:
    """Return the messages received so far."""

    heard: list[dict[str, Any]] = field(default_factory=list)

    def told(self, kind: str) -> list[dict[str, Any]]:
        """Return the messages of one type."""
        return [message for message in self.heard if message["type"] == kind]

    async def serve(self, socket: ClientConnection) -> None:
        """Play every match that comes, until the connection ends."""
        async for frame in socket:
            assert isinstance(frame, bytes)
            message = msgpack.unpackb(frame)
            self.heard.append(message)
            match message["type"]:
                case "start":
                    await socket.send(msgpack.packb({"type": "ready", "match": message["match"]}))
                case "turn":
                    answer = {key: message[key] for key in ("match", "ply")}
                    answer |= {"type": "move", "move": find_free_cell(message["moves"])}
                    await socket.send(msgpack.packb(answer))


@asynccontextmanager
async def honest(url: str, name: str, token: str) -> AsyncIterator[Honest]:
    """Yield an honest bot that plays for as long as the block lasts."""
    bot = Honest()
    async with connect(url, subprotocols=[SUBPROTOCOL], compression=None, open_timeout=150) as socket:
        await socket.send(msgpack.packb({"type": "hello", "name": name, "token": token}))
        async with asyncio.TaskGroup() as tasks:
            playing = tasks.create_task(bot.serve(socket))
            yield bot
            await socket.close()
            await playing
