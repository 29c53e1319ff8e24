"""Websocket server for tests of a client: for each connection, a script sends messages and checks the answers."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from arena.protocol.codec import decode_client_message, encode_message
from arena.protocol.messages import SUBPROTOCOL, ClientMessage, Hello, ServerMessage
from tests.bots.server_messages import welcome

T = TypeVar("T", bound=ClientMessage)


class Peer:
    """Server's side of one connection."""

    def __init__(self, connection: ServerConnection) -> None:
        self.connection = connection

    async def send(self, *messages: ServerMessage | bytes | str) -> None:
        for message in messages:
            await self.connection.send(
                message if isinstance(message, bytes | str) else encode_message(message)
            )

    async def receive_any(self) -> ClientMessage:
        """Return the next message of the client."""
        with anyio.fail_after(500):
            return decode_client_message(await self.connection.recv())

    async def receive(self, kind: type[T]) -> T:
        """Return the next message of the client, which must have the type `kind`."""
        message = await self.receive_any()
        assert isinstance(message, kind), message
        return message

    async def welcome_bot(self, session: str = "secret") -> Hello:
        """Receive the client's hello, send a welcome with the secret `session`, and return the hello."""
        hello = await self.receive(Hello)
        await self.send(welcome(session))
        return hello

    def reset(self) -> None:
        """Cut the connection without a closing handshake."""
        self.connection.transport.abort()


Script = Callable[[Peer], Awaitable[None]]
"""Function that plays the server on one connection."""


class ScriptedServer:
    """Running server, as `serve_scripts` yields it."""

    def __init__(self) -> None:
        self.url = ""
        self.connections = 0
        """Number of connections that clients have opened."""
        self.errors: list[Exception] = []
        """Exceptions raised by scripts."""


@asynccontextmanager
async def serve_scripts(*scripts: Script, subprotocol: str = SUBPROTOCOL) -> AsyncIterator[ScriptedServer]:
    """Yield a server that runs the first script on its first connection, and so on; the last script also on later ones.

    Raises ExceptionGroup at the end of the `with` block if a script raised an exception.
    """
    scripted = ScriptedServer()

    async def answer(connection: ServerConnection) -> None:
        script = scripts[min(scripted.connections, len(scripts) - 1)]
        scripted.connections += 1
        try:
            await script(Peer(connection))
        except ConnectionClosed:
            pass
        except Exception as error:  # noqa: BLE001 - raised again at the end of the block
            scripted.errors.append(error)
            connection.transport.abort()

    async with serve(
        answer, "127.0.0.1", 0, subprotocols=[Subprotocol(subprotocol)], compression=None
    ) as server:
        scripted.url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        yield scripted
    if scripted.errors:
        raise ExceptionGroup("the script failed", scripted.errors)
