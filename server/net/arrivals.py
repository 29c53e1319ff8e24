"""What has arrived on a connection and is not parsed: counted first, so that a flood is known before it costs much.

What has arrived on a socket is a large piece of work when it holds thousands of frames. Whoever sends no more than
a player has to say is parsed at once; all else is kept here, and taken piece by piece. Of a flood no more is parsed
than its sender needs to be told.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from arena.server.net.frames import FrameCounter, FramesSeen
from arena.server.net.limits import HostLimits
from arena.server.net.token_bucket import TokenBucket

END_OF_REQUEST = b"\r\n\r\n"
"""The end of the last header, and an empty line."""
REQUEST_BYTES = 2048
"""Bytes of a request that are parsed at once: all of what a browser sends."""
PIECE_BYTES = 512
"""Bytes that are parsed at once: several moves, or some 80 of the smallest frames."""
KEPT_BYTES = 16 * 1024
"""Bytes that may wait to be parsed before no more is read: many messages are soon seen to be too many."""
CONTROLS_PER_SECOND = 10.0
"""Control frames that a client may send on the average; each ping is answered."""
CONTROL_BURST = 100
"""Control frames that a client may send without a pause."""
FRAGMENTS_PER_SECOND = 1000.0
"""Fragments of messages, but for the last of each, that a client may send on the average."""
MOST_FRAGMENTS = 1024
"""Fragments that a client may send without a pause: they are kept until their message is whole, also empty ones."""


class Arrival(Enum):
    """What is to become of bytes that have arrived."""

    DUE = auto()
    """A player has as much to say: they may be parsed at once."""
    LATER = auto()
    """They wait for a turn."""
    OVERRUN = auto()
    """They wait for a turn too, and with them more messages have arrived than their sender may send."""
    FLOOD = auto()
    """More frames that are no messages have arrived than any client has a reason to send."""


class Arrivals:
    """Counts what arrives on one connection, and keeps what is not parsed yet. Times are monotonic ns."""

    def __init__(self, limits: HostLimits, now: int, moves: Callable[[], TokenBucket]) -> None:
        """`moves` gives what all connections of the client's address may send of what is asked for before they wait.

        It is asked once, when a message is due: by then the opening handshake has told whose address it is.
        """
        self.bucket = TokenBucket(limits.messages_per_second, limits.message_burst, now)
        """What the client may send; whoever receives its messages takes each of them from it."""
        self._ask_moves = moves
        self._moves: TokenBucket | None = None
        self.quick = False
        """Whether what waits is due, and waits only because much is due from its address."""
        self.overrun = False
        """Whether more messages have arrived than the client may send: its receiver will refuse the next, and say why."""
        self._controls = TokenBucket(CONTROLS_PER_SECOND, CONTROL_BURST, now)
        self._fragments = TokenBucket(FRAGMENTS_PER_SECOND, MOST_FRAGMENTS, now)
        self._frames = FrameCounter()
        self.messages = 0
        """Messages that have arrived whole and are not parsed."""
        self._due = 0
        """How many of these came last and are due."""
        self._kept = b""
        self._in_request = True
        """Whether a request, the only one or the last of which opens the websocket, has not been taken to its end."""
        self._request_end = b""
        """The last bytes that were taken of it."""

    def __len__(self) -> int:
        """Bytes that wait to be parsed."""
        return len(self._kept)

    def answers(self, data: bytes) -> bool:
        """Whether `data` is one message that was asked for, as nearly always where somebody plays; it is counted then."""
        if not (self.bucket.asked and not self._kept and self._frames.is_message(data)):
            return False
        self.messages += 1
        self.bucket.expect(1)
        self._due = 1
        return True

    def next_request(self) -> None:
        """The request that was taken is answered, and what follows it is another one."""
        self._in_request = True
        self._request_end = b""

    def opened(self, now: int) -> Arrival:
        """The request that was taken has opened a websocket: count what has come after it."""
        return self.count(self._kept, now)

    def count(self, data: bytes, now: int) -> Arrival:
        """Count the frames in `data`; a few bytes of each are looked at, and none where it was too much before."""
        if self.overrun:
            return Arrival.LATER
        left = self.bucket.left(now)
        seen = self._frames.look(data, FramesSeen(left, CONTROL_BURST, MOST_FRAGMENTS))
        if not (
            self._controls.take_all(seen.controls, now) and self._fragments.take_all(seen.fragments, now)
        ):
            return Arrival.FLOOD
        self.messages += seen.messages
        self.bucket.expect(seen.messages)
        self._due = seen.messages
        if self.messages > left:
            self.overrun = True
            self.bucket.overrun()
            return Arrival.OVERRUN
        due = (
            len(data) <= PIECE_BYTES
            and seen.controls <= 1
            and not seen.fragments
            and self.bucket.easy(seen.messages, now)
        )
        return Arrival.DUE if due else Arrival.LATER

    def waits(self, now: int) -> bool:
        """Whether what is due has to wait for a turn all the same, for so much is due from its address."""
        if self._moves is None:
            self._moves = self._ask_moves()
        self.quick = not self._moves.take(now)
        if self._due > 1 and not self.quick:
            self._moves.spend(self._due - 1)
        return self.quick

    def parsed(self) -> None:
        """One message that had arrived has been parsed."""
        self.messages -= 1

    def keep(self, data: bytes) -> None:
        """Keep what is to be parsed later."""
        self._kept += data

    @property
    def full(self) -> bool:
        """Whether nothing more should be read until some of it is parsed."""
        return self.overrun or len(self._kept) >= KEPT_BYTES

    def take(self) -> bytes:
        """The next piece: of a request never what follows it."""
        size = PIECE_BYTES
        if self._in_request:
            size = REQUEST_BYTES
            known = self._request_end + self._kept[:size]
            end = known.find(END_OF_REQUEST)
            if end >= 0:
                self._in_request = False
                size = end + len(END_OF_REQUEST) - len(self._request_end)
            self._request_end = known[1 - len(END_OF_REQUEST) :]
        piece, self._kept = self._kept[:size], self._kept[size:]
        self.quick = False
        return piece

    def take_all(self) -> bytes:
        """All that is kept."""
        kept, self._kept = self._kept, b""
        return kept
