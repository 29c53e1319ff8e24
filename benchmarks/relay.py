"""Bare relay that the server is measured against: it pairs connections, and knows nothing of games.

python -m benchmarks.relay PORT ANSWER_BYTES TURN_BYTES

For each frame it writes what the server would: an answer of so many bytes to its sender, and a turn of so many to the
other of the pair. It uses the server's own connections, which count, bound and parse frames as they do for the server.
"""

from __future__ import annotations

import argparse

import anyio
import uvloop
from msgspec.structs import replace

from arena.server.net.admission import Admission
from arena.server.net.answers import Answer
from arena.server.net.connection import Connection
from arena.server.net.interpreter import settled
from arena.server.net.limits import PRIVATE
from arena.server.net.request import Request
from arena.server.net.server import Server

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
        Server(
            Admission(LIMITS, ()), no_page, Pairs(answer, turn).receiver, tasks, program="relay"
        ) as server,
    ):
        await server.listen(HOST, port, None)
        with settled():
            await anyio.sleep_forever()


async def no_page(_request: Request, _address: str) -> Answer | None:
    """A relay has no pages."""
    return None


def main() -> None:
    """Run a relay until killed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("port", type=int)
    parser.add_argument("answer_bytes", type=int)
    parser.add_argument("turn_bytes", type=int)
    given = parser.parse_args()
    answer = bytes([ANSWER]) + bytes(given.answer_bytes - 1)
    turn = bytes([TURN]) + bytes(given.turn_bytes - 1)
    uvloop.run(relay(given.port, answer, turn))


if __name__ == "__main__":
    main()
