"""Relay: a server that only passes messages between pairs of connections, for comparison with the arena's server.

python -m benchmarks.relay PORT ANSWER_BYTES TURN_BYTES

For each frame, the relay writes as much as the server does for a move: an answer of ANSWER_BYTES to the sender, and a
turn of TURN_BYTES to the other connection of the pair. The relay uses the server's own connection code, which counts,
limits and parses frames.
"""

from __future__ import annotations

import sys

import anyio
import uvloop
from msgspec.structs import replace
from websockets.frames import Frame

from arena.clock import MONOTONIC_CLOCK
from arena.server.core.limits import PRIVATE_SERVER_LIMITS
from arena.server.edge.connection import Connection
from arena.server.edge.edge import Edge
from arena.server.edge.session import ADMITTED, BINARY_OPCODE, PlayedMatchState, Session
from arena.server.interpreter import tuned_interpreter
from arena.server.loop_lag import EventLoopLag
from arena.server.metrics import Metrics
from arena.server.ports import MessageToCore

TURN_FIRST_BYTE, ANSWER_FIRST_BYTE = 0x81, 0x82
"""First byte of the payload of a turn and of an answer, by which bots tell these two messages apart."""
RELAY_HOST = "127.0.0.1"
RELAY_LIMITS = replace(PRIVATE_SERVER_LIMITS, hello_seconds=60.0)
"""Limits of the relay. Clients have 60 s for a handshake, as on the measured server, since up to 1,000 connect at once."""


class NullCore:
    """Substitute for the core (the part of a server that plays matches), which drops all messages from the connections."""

    def submit(self, message: MessageToCore) -> None:
        """Drop a message that a connection would pass to the core."""


class RelayPairs:
    """Pairs of a relay's connections: the first two to arrive form a pair, then the next two, and so on."""

    def __init__(self, answer_message: bytes, turn_message: bytes) -> None:
        """Start without connections.

        answer_message: message for the sender of a frame
        turn_message: message for the other connection of the pair
        """
        self._answer_message = answer_message
        self._turn_message = turn_message
        self._waiting: RelaySession | None = None

    def make_session(self, edge: Edge, connection: Connection) -> RelaySession:
        """Create the session of a new connection. If an earlier session has no partner yet, pair the two."""
        session = RelaySession(edge, connection, self._answer_message, self._turn_message)
        if self._waiting is None:
            self._waiting = session
        else:
            session.pair_with(self._waiting)
            self._waiting = None
        return session


class RelaySession(Session):
    """Session of one connection to the relay.

    The relay answers each frame of the connection, and sends the other connection of the pair a turn.
    """

    def __init__(
        self, edge: Edge, connection: Connection, answer_message: bytes, turn_message: bytes
    ) -> None:
        super().__init__(edge, connection)
        self.state = ADMITTED
        self.played_matches[""] = PlayedMatchState()  # the frames of players are parsed immediately
        self._answer_message = answer_message
        self._turn_message = turn_message
        self._other: RelaySession | None = None

    def pair_with(self, partner: RelaySession) -> None:
        """Pair this session with `partner`, and send `partner` the first turn."""
        self._other, partner._other = partner, self
        partner.write_message(self._turn_message)

    def write_message(self, data: bytes) -> None:
        """Write a message in a websocket frame of the same form as those of the arena's server."""
        self._connection.write_or_disconnect_slow_client(Frame(BINARY_OPCODE, data).serialize(mask=False))

    def receive_frame(self, frame: Frame, arrived_ns: int) -> None:  # noqa: ARG002  the time makes no difference
        """Send the answer to the sender of a frame, and a turn (a message that asks for a move) to the other session of the pair.

        The edge calls every session with the frame's time of arrival, but a relay does not use this time (`arrived_ns`).
        """
        if frame.opcode is not BINARY_OPCODE:
            return
        self.write_message(self._answer_message)
        if self._other is not None:
            self._other.write_message(self._turn_message)

    def handle_hello_timeout(self) -> None:
        """Do nothing: clients of a relay send no hello."""


async def run_relay(port: int, answer_message: bytes, turn_message: bytes) -> None:
    """Run a relay until cancelled.

    port: port of this machine on which to listen
    answer_message: message for the sender of a frame
    turn_message: message for the other connection of the pair
    """
    metrics = Metrics()
    loop_lag = EventLoopLag(MONOTONIC_CLOCK, metrics.loop_lag_seconds.observe)
    async with Edge(
        1, NullCore(), RELAY_LIMITS, metrics=metrics, server_program="relay", loop_lag=loop_lag
    ) as edge:
        edge.make_session = RelayPairs(answer_message, turn_message).make_session
        await edge.start_listening(RELAY_HOST, port)
        with tuned_interpreter():
            await anyio.sleep_forever()


def main() -> None:
    """Run a relay at the address given on the command line, until the process is killed."""
    port, answer_bytes, turn_bytes = map(int, sys.argv[1:4])
    answer_message = bytes([ANSWER_FIRST_BYTE]) + bytes(answer_bytes - 1)
    turn_message = bytes([TURN_FIRST_BYTE]) + bytes(turn_bytes - 1)
    uvloop.run(run_relay(port, answer_message, turn_message))


if __name__ == "__main__":
    main()
