"""Client over a real websocket, which a test controls message by message."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from arena.games.core import AnyGame
from arena.protocol.codec import decode_server_message, encode_message
from arena.protocol.messages import (
    SUBPROTOCOL,
    ClientMessage,
    End,
    Hello,
    Move,
    Ready,
    ServerMessage,
    Start,
    Turn,
    Welcome,
)
from arena.server.host import ArenaServer

_T = TypeVar("_T", bound=ServerMessage)


class Peer:
    """Connection to a server."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.welcome: Welcome

    async def say(self, message: ClientMessage) -> None:
        await self.connection.send(encode_message(message))

    async def next(self) -> ServerMessage:
        """Return the next message of any class."""
        # A house engine is a process, whose start takes long on a busy machine.
        with anyio.fail_after(500):
            return decode_server_message(await self.connection.recv())

    async def hear(self, kind: type[_T]) -> _T:
        """Return the next message of this class, and drop the messages before it."""
        while True:
            message = await self.next()
            if isinstance(message, kind):
                return message

    async def hello(self, name: str, token: str = "", session: str = "", **more: Any) -> Welcome:
        await self.say(Hello(name, token, session, **more))
        self.welcome = await self.hear(Welcome)
        return self.welcome

    async def play(self, game: AnyGame) -> End:
        """Play the next match to its end, always with the first legal move, and return the `end`."""
        while True:
            match await self.next():
                case Start(match=match):
                    await self.say(Ready(match))
                case Turn(match=match, ply=ply, moves=moves):
                    position = game.start()
                    for move in moves:
                        position = game.play(position, game.move_from_data(move))
                    await self.say(Move(match, ply, game.move_to_data(game.moves(position)[0])))
                case End() as end:
                    return end


@asynccontextmanager
async def dial(url: str, **options: Any) -> AsyncIterator[Peer]:
    """Connect to a server for the block. The client has not sent its hello yet."""
    async with connect(
        url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None, **options
    ) as connection:
        yield Peer(connection)


@asynccontextmanager
async def enter(host: ArenaServer, name: str, **hello: Any) -> AsyncIterator[Peer]:
    """Connect a bot of this name to a host for the block. `hello`: further fields of the hello."""
    async with dial(host.url) as peer:
        await peer.hello(name, host.issue_token(name), **hello)
        yield peer
