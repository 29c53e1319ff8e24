"""The bare relays that the server is measured against: they pair connections, and know nothing of games.

python -m benchmarks.relay PORT ANSWER_BYTES TURN_BYTES [--ready-made]

For each frame they write what the server would: an answer of so many bytes to its sender, and a turn of so many to the
other of the pair. The relay stands on the server's own connections, which count, bound and parse what comes as they do
for the server; with --ready-made on those that come with `websockets`.
"""

from __future__ import annotations

import argparse
import asyncio

import anyio
import uvloop
from msgspec.structs import replace
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from arena.protocol.messages import SUBPROTOCOL
from arena.server.net.admission import Admission
from arena.server.net.answers import Answer
from arena.server.net.connection import Connection
from arena.server.net.interpreter import settled
from arena.server.net.limits import PRIVATE
from arena.server.net.request import Request
from arena.server.net.server import open_server

TURN, ANSWER = 0x81, 0x82
"""What frames begin with that say that it is one's turn, and that do not."""
HOST = "127.0.0.1"
LIMITS = replace(PRIVATE, hello_seconds=60.0)
"""As the server's, which is given as long for a thousand handshakes at once."""


class Pairs:
    """Makes the receivers of one relay's connections, two by two."""

    def __init__(self, answer: bytes, turn: bytes) -> None:
        self._answer = answer
        self._turn = turn
        self._waiting: Half | None = None

    def receiver(self, connection: Connection) -> Half:
        """One half of a pair, whose other half is the connection that came before or comes next."""
        half = Half(connection, self._answer, self._turn)
        if self._waiting is None:
            self._waiting = half
        else:
            half.meet(self._waiting)
            self._waiting = None
        return half


class Half:
    """The receiver of one connection."""

    def __init__(self, connection: Connection, answer: bytes, turn: bytes) -> None:
        self._connection = connection
        self._bucket = connection.bucket
        self._answer = answer
        self._turn = turn
        self._other: Half | None = None

    def meet(self, other: Half) -> None:
        """Be the half of a pair with another, whose turn it is then."""
        self._other, other._other = other, self
        other.tell(self._turn)

    def tell(self, frame: bytes) -> None:
        """Write a frame that asks for another, as the server counts it."""
        self._bucket.allow()
        self._connection.send(frame)

    def receive(self, message: bytes | str, at: int) -> None:  # noqa: ARG002  what is in it makes no difference
        """Answer the sender, and tell the other that it is its turn."""
        self._bucket.take(at)
        self._connection.send(self._answer)
        if self._other is not None:
            self._other.tell(self._turn)

    def closed(self, fault: str | None) -> None:
        """There is nothing to be put away."""


async def relay(port: int, answer: bytes, turn: bytes) -> None:
    """On the server's own connections; runs until killed."""
    async with (
        anyio.create_task_group() as tasks,
        open_server(
            LIMITS, Admission(LIMITS, ()), no_page, Pairs(answer, turn).receiver, tasks, program="relay"
        ) as server,
    ):
        await server.listen(HOST, port, None)
        with settled():
            await anyio.sleep_forever()


async def no_page(_request: Request, _address: str) -> Answer | None:
    """A relay has no pages."""
    return None


async def ready_made(port: int, answer: bytes, turn: bytes) -> None:
    """On the connections that come with `websockets`; runs until killed."""
    waiting: list[tuple[ServerConnection, asyncio.Future[ServerConnection]]] = []

    async def pass_on(connection: ServerConnection) -> None:
        if waiting:
            other, met = waiting.pop()
            met.set_result(connection)
            await other.send(turn)
        else:
            met = asyncio.get_running_loop().create_future()
            waiting.append((connection, met))
            other = await met
        try:
            async for _ in connection:
                await connection.send(answer)
                await other.send(turn)
        except ConnectionClosed:
            pass

    async with serve(
        pass_on, HOST, port, compression=None, subprotocols=[Subprotocol(SUBPROTOCOL)]
    ) as server:
        await server.serve_forever()


def main() -> None:
    """Run a relay until killed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("port", type=int)
    parser.add_argument("answer_bytes", type=int)
    parser.add_argument("turn_bytes", type=int)
    parser.add_argument("--ready-made", action="store_true")
    given = parser.parse_args()
    answer = bytes([ANSWER]) + bytes(given.answer_bytes - 1)
    turn = bytes([TURN]) + bytes(given.turn_bytes - 1)
    uvloop.run((ready_made if given.ready_made else relay)(given.port, answer, turn))


if __name__ == "__main__":
    main()
