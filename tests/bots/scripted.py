"""A scripted peer: a real websocket server that says what a test's script says, and checks the answers."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from arena.protocol.codec import decode_client_message, encode
from arena.protocol.messages import SUBPROTOCOL, ClientMessage, Hello, ServerMessage
from tests.bots.wirework import welcome

T = TypeVar("T", bound=ClientMessage)


class Peer:
    """The server's end of one connection."""

    def __init__(self, connection: ServerConnection) -> None:
        self.connection = connection

    async def say(self, *messages: ServerMessage | bytes | str) -> None:
        for message in messages:
            await self.connection.send(message if isinstance(message, bytes | str) else encode(message))

    async def hear_any(self) -> ClientMessage:
        """Return the next message."""
        with anyio.fail_after(500):
            return decode_client_message(await self.connection.recv())

    async def hear(self, kind: type[T]) -> T:
        """Return the next message, which must be of that kind."""
        message = await self.hear_any()
        assert isinstance(message, kind), message
        return message

    async def let_in(self, session: str = "secret") -> Hello:
        """Take the hello, and answer with a welcome."""
        hello = await self.hear(Hello)
        await self.say(welcome(session))
        return hello

    def cut(self) -> None:
        """Break the connection without a word."""
        self.connection.transport.abort()


Script = Callable[[Peer], Awaitable[None]]


class Stage:
    """State of the scripts of one test: `url`, and the number of connections."""

    def __init__(self) -> None:
        self.url = ""
        self.connections = 0
        self.errors: list[Exception] = []


@asynccontextmanager
async def scripted(*scripts: Script, subprotocol: str = SUBPROTOCOL) -> AsyncIterator[Stage]:
    """Yield a server whose first connection gets the first script, and so on; the last serves all that follow.

    A script that fails, fails the test.
    """
    stage = Stage()

    async def answer(connection: ServerConnection) -> None:
        script = scripts[min(stage.connections, len(scripts) - 1)]
        stage.connections += 1
        try:
            await script(Peer(connection))
        except ConnectionClosed:
            pass
        except Exception as error:  # noqa: BLE001 - told to the test at its end
            stage.errors.append(error)
            connection.transport.abort()

    async with serve(
        answer, "127.0.0.1", 0, subprotocols=[Subprotocol(subprotocol)], compression=None
    ) as server:
        stage.url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        yield stage
    if stage.errors:
        raise ExceptionGroup("the script failed", stage.errors)
