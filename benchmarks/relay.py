"""Relay with which the server is compared. It passes messages between pairs of connections, and knows no game.

python -m benchmarks.relay PORT ANSWER_BYTES TURN_BYTES [FILE]

For each frame, the relay writes as much as the server does for a move: an answer of ANSWER_BYTES to the sender, and a
turn of TURN_BYTES to the other connection of the pair. It uses the server's own connection code, which counts, limits
and parses frames.

With FILE, the relay stores a row in this SQLite file before it answers a frame, as the server does for a move. A thread
commits the rows; those that arrive during a commit are committed together. No server that stores moves through the same
libraries can be cheaper.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from functools import partial

import anyio
import uvloop
from msgspec.structs import replace
from websockets.frames import Frame

from arena.clock import MONOTONIC_CLOCK
from arena.server.core.limits import PRIVATE_HOST_LIMITS
from arena.server.edge.connection import Connection
from arena.server.edge.edge import Edge
from arena.server.edge.session import ADMITTED, BINARY_OPCODE, PlayedMatchState, Session
from arena.server.interpreter import tune_interpreter
from arena.server.loop_lag import LoopLag
from arena.server.metrics import Metrics
from arena.server.ports import MessageToCore
from arena.server.store.journal.sqlite_writer import WriterThread

TURN, ANSWER = 0x81, 0x82
"""First byte of the payload of a turn and of an answer, by which bots tell these two messages apart."""
STORED_ROW_TEXT = "x" * 200
"""Text of a stored row, as large as the row that the server stores for a move."""
RELAY_HOST = "127.0.0.1"
RELAY_LIMITS = replace(PRIVATE_HOST_LIMITS, hello_seconds=60.0)
"""Limits of the relay. A handshake may take 60 s, as on the server when a thousand bots connect."""


class NullCore:
    """Replacement for the core, which plays matches: ignores all messages of the edge, which holds the connections."""

    def submit(self, message: MessageToCore) -> None:
        """Drop a message: a relay plays no matches."""


def open_row_table(database_file: str) -> sqlite3.Connection:
    """Create a SQLite file with a table `rows`, whose commits wait for the disk as the server's do, and return it."""
    connection = sqlite3.connect(database_file, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT)")
    return connection


class RelayStore:
    """SQLite file in which a relay stores a row for each frame before the frame is answered."""

    def __init__(self, database_file: str) -> None:
        self._connection = open_row_table(database_file)
        self._thread = WriterThread("relay-writer")
        self._waiting: list[RelaySession] = []
        """Sessions with a frame that waits to be stored; a session is listed once for each such frame."""
        self._is_committing = False

    def store_row_and_answer(self, session: RelaySession) -> None:
        """Store a row for a frame of this session, and then answer the frame."""
        self._waiting.append(session)
        if not self._is_committing:
            self._commit_waiting_rows()

    def _commit_waiting_rows(self) -> None:
        sessions, self._waiting, self._is_committing = self._waiting, [], True
        insert = f"INSERT INTO rows (text) VALUES {', '.join(['(?)'] * len(sessions))}"
        committed = self._thread.call(
            partial(self._connection.execute, insert, [STORED_ROW_TEXT] * len(sessions))
        )
        committed.add_done_callback(partial(self._answer_sessions, sessions))

    def _answer_sessions(
        self, sessions: list[RelaySession], committed: asyncio.Future[sqlite3.Cursor]
    ) -> None:
        committed.result()
        self._is_committing = False
        for session in sessions:
            session.answer()
        if self._waiting:
            self._commit_waiting_rows()

    def close(self) -> None:
        """Stop the thread, and close the file."""
        self._thread.close()
        self._connection.close()


class RelayPairs:
    """Pairing of a relay's connections, in the order in which they arrive."""

    def __init__(self, answer: bytes, turn: bytes, store: RelayStore | None = None) -> None:
        """Start without connections.

        answer: message for the sender of a frame
        turn: message for the other connection of the pair
        store: store for the frames; None to store nothing
        """
        self._answer = answer
        self._turn = turn
        self._store = store
        self._waiting: RelaySession | None = None

    def make_session(self, edge: Edge, connection: Connection) -> RelaySession:
        """Return the session of a new connection, paired with the session that waits for a partner, if there is one."""
        session = RelaySession(edge, connection, self._answer, self._turn, self._store)
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
        self, edge: Edge, connection: Connection, answer: bytes, turn: bytes, store: RelayStore | None
    ) -> None:
        super().__init__(edge, connection)
        self.state = ADMITTED
        self.seats[""] = PlayedMatchState()  # the frames of players are parsed immediately
        self._answer = answer
        self._turn = turn
        self._store = store
        self._other: RelaySession | None = None

    def pair_with(self, partner: RelaySession) -> None:
        """Pair this session with `partner`, and send `partner` the first turn."""
        self._other, partner._other = partner, self
        partner.write_message(self._turn)

    def write_message(self, data: bytes) -> None:
        """Write a message in a websocket frame like the server's."""
        self._connection.write_or_disconnect_slow_client(Frame(BINARY_OPCODE, data).serialize(mask=False))

    def receive(self, frame: Frame, arrived_ns: int) -> None:  # noqa: ARG002  the time makes no difference
        """Answer a frame, after it is stored if the relay stores frames."""
        if frame.opcode is not BINARY_OPCODE:
            return
        if self._store is None:
            self.answer()
        else:
            self._store.store_row_and_answer(self)

    def answer(self) -> None:
        """Answer the sender of a frame, and send the other session of the pair a turn."""
        self.write_message(self._answer)
        if self._other is not None:
            self._other.write_message(self._turn)

    def handle_hello_timeout(self) -> None:
        """Do nothing: clients of a relay send no hello."""


async def run_relay(port: int, answer_frame: bytes, turn_frame: bytes, database_file: str = "") -> None:
    """Run a relay until cancelled. Send `answer_frame` to a frame's sender, and `turn_frame` to the other session of the pair.

    port: port of this machine on which to listen
    database_file: SQLite file in which a row is stored before each answer; empty to store nothing
    """
    store = RelayStore(database_file) if database_file else None
    metrics = Metrics()
    lag = LoopLag(MONOTONIC_CLOCK, metrics.loop_seconds.observe)
    async with Edge(1, NullCore(), RELAY_LIMITS, metrics=metrics, server_program="relay", lag=lag) as edge:
        edge.make_session = RelayPairs(answer_frame, turn_frame, store).make_session
        await edge.start_listening(RELAY_HOST, port)
        with tune_interpreter():
            await anyio.sleep_forever()


def main() -> None:
    """Run a relay at the address given on the command line, until the process is killed."""
    port, answer_bytes, turn_bytes = map(int, sys.argv[1:4])
    answer = bytes([ANSWER]) + bytes(answer_bytes - 1)
    turn = bytes([TURN]) + bytes(turn_bytes - 1)
    uvloop.run(run_relay(port, answer, turn, *sys.argv[4:]))


if __name__ == "__main__":
    main()
