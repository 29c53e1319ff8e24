"""Bare relay with which the server is compared. It pairs connections, knows no game and stores nothing.

python -m benchmarks.relay PORT ANSWER_BYTES TURN_BYTES

For each frame, the relay writes as much as the server does for a move: an answer of ANSWER_BYTES to the sender, and a
turn of TURN_BYTES to the other connection of the pair. It uses the server's own connection code, which counts, limits
and parses frames.
"""

from __future__ import annotations

import sys

import anyio
import uvloop
from msgspec.structs import replace
from websockets.frames import Frame

from arena.server.edge.connection import Connection
from arena.server.edge.edge import Edge
from arena.server.edge.interpreter import tune_interpreter
from arena.server.edge.limits import PRIVATE_LIMITS
from arena.server.edge.session import ADMITTED, BINARY, SeatState, Session
from arena.server.metrics import Metrics
from arena.server.ports import MessageToCore

TURN, ANSWER = 0x81, 0x82
"""First byte of the payload of a turn and of an answer, by which bots tell these two messages apart."""
HOST = "127.0.0.1"
LIMITS = replace(PRIVATE_LIMITS, hello_seconds=60.0)
"""Limits of the relay. A handshake may take 60 s, as on the server when a thousand bots connect."""


class NullCore:
    """Core that ignores all messages of its edge."""

    def submit(self, message: MessageToCore) -> None:
        """Drop a message: a relay has no clients."""


class RelayPairs:
    """Pairing of a relay's connections, in the order in which they arrive."""

    def __init__(self, answer: bytes, turn: bytes) -> None:
        self._answer = answer
        self._turn = turn
        self._waiting: RelaySession | None = None

    def make_session(self, edge: Edge, connection: Connection) -> RelaySession:
        """Return the session of a new connection. Pair it with the previous connection, if that one still waits."""
        half = RelaySession(edge, connection, self._answer, self._turn)
        if self._waiting is None:
            self._waiting = half
        else:
            half.pair_with(self._waiting)
            self._waiting = None
        return half


class RelaySession(Session):
    """Session of one connection to the relay. Each frame that it receives is answered, and gives the other side a turn."""

    def __init__(self, edge: Edge, connection: Connection, answer: bytes, turn: bytes) -> None:
        super().__init__(edge, connection)
        self.state = ADMITTED
        self.seats[""] = SeatState()  # the frames of players are parsed immediately
        self._answer = answer
        self._turn = turn
        self._other: RelaySession | None = None

    def pair_with(self, other: RelaySession) -> None:
        """Pair this session with another one, and send that one the first turn."""
        self._other, other._other = other, self
        other.write_message(self._turn)

    def write_message(self, data: bytes) -> None:
        """Write a message in a websocket frame like the server's."""
        self._connection.write(Frame(BINARY, data).serialize(mask=False))

    def receive(self, frame: Frame, at: int) -> None:  # noqa: ARG002  the time makes no difference
        """Answer the sender of a frame, and send the other session of the pair a turn."""
        if frame.opcode is BINARY:
            self.write_message(self._answer)
            if self._other is not None:
                self._other.write_message(self._turn)

    def handle_hello_timeout(self) -> None:
        """Do nothing: clients of a relay send no hello."""


async def run_relay(port: int, answer: bytes, turn: bytes) -> None:
    """Run a relay until cancelled. Send `answer` to a frame's sender, and `turn` to the other session of the pair."""
    async with Edge(1, NullCore(), LIMITS, metrics=Metrics(), program="relay") as edge:
        edge.session = RelayPairs(answer, turn).make_session
        await edge.listen(HOST, port)
        with tune_interpreter():
            await anyio.sleep_forever()


def main() -> None:
    """Run a relay with the sizes of the command line until killed."""
    port, answer_bytes, turn_bytes = map(int, sys.argv[1:])
    answer = bytes([ANSWER]) + bytes(answer_bytes - 1)
    turn = bytes([TURN]) + bytes(turn_bytes - 1)
    uvloop.run(run_relay(port, answer, turn))


if __name__ == "__main__":
    main()
