"""The guard of one connection: what it may cost the event loop, below what any limit on messages sees.

What has arrived on a socket is a large piece of work when it holds thousands of frames, and so are a hundred
handshakes at once. So newcomers, and whoever sends more than a player has to say, wait in a lane, where one small
piece of one of them is taken at a time. A player's move is never in it. And what has arrived is counted before
it is parsed: of a flood, no more is parsed than its sender needs to be told.
"""

from __future__ import annotations

import asyncio
from asyncio import transports
from collections.abc import Callable
from random import getrandbits
from time import monotonic, monotonic_ns
from typing import Protocol, cast

from websockets.asyncio.server import ServerConnection
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import Event, State

try:
    from websockets.speedups import apply_mask
except ImportError:  # the library was installed without what needs a compiler
    from websockets.utils import apply_mask

from protocol.codes import Code
from server.net.failed_logins import source
from server.net.frames import FrameCounter, Seen
from server.net.keepalive import PONG_SECONDS, Keepalive
from server.net.queue import TurnQueue
from server.net.token_bucket import TokenBucket
from server.net.wire import WHOLE_BINARY

PIECE = 512
"""Bytes that are parsed at once: several moves, or some 80 of the smallest frames."""
HOLD = 16 * 1024
"""Bytes that may wait for their turn before no more is read: many messages are soon seen to be too many."""
AFTER_CLOSE = 4096
"""Bytes that still may come from a client that was told that its connection is closed; an honest one has few under way."""
CONTROLS_PER_SECOND = 10.0
"""Control frames that a client may send on the average; each ping is answered."""
CONTROL_BURST = 100
FRAGMENTS_PER_SECOND = 1000.0
"""Fragments of messages, but for the last of each, that a client may send on the average."""
MOST_FRAGMENTS = 1024
"""The same at once. They are kept until their message is whole, also those that hold nothing."""
CONTROLS = {Opcode.PING, Opcode.PONG, Opcode.CLOSE}
FAULTY = {1002, 1003, 1007, 1008, 1009}
"""Close codes of this side for what a client did wrong ..."""
HARMLESS = (Code.REPLACED.value, Code.NAME_TAKEN.value)
"""... but for these: a bot that returns, and one that waits for its name."""


class Doorkeeper(Protocol):
    """Who counts connections (server.net.admission)."""

    newcomers: TurnQueue
    floods: TurnQueue
    keepalive: Keepalive
    answers: int
    """What players were asked for, and have sent: counted by their connections."""

    def bucket(self, now: int) -> TokenBucket:
        """What a new connection may send; now in monotonic ns."""
        ...

    def greet(self, address: str) -> bool:
        """Whether one more connection from the address may come in; it is counted if so."""
        ...

    def turn_away(self, transport: asyncio.Transport) -> None:
        """End a connection that may not come in."""
        ...

    def leave(self, address: str) -> None:
        """A counted connection has ended."""
        ...

    def cut_off(self, address: str) -> None:
        """A connection from the address had to be ended for what it did."""
        ...


class GuardedConnection(ServerConnection):
    """A connection that is counted from its first moment to its last, and never parsed for long."""

    keeper: Doorkeeper
    """Set by the door, for all connections of a server."""
    patience: float
    """Seconds from the connection to the end of its handshake."""
    client_address: str | None = None
    """Whom it is counted for."""
    listener: Callable[[bytes], bool] | None = None
    """Is given each message where it arrives, unless one before it waits for `recv`; False leaves it to `recv`."""
    _at_rest = False
    """Whether the library has parsed and handed over all that came before, and expects a message."""
    _known = False
    """Whether it came in at all."""

    def connection_made(self, transport: transports.BaseTransport) -> None:
        address = host_of(transport.get_extra_info("peername"))
        if not self.keeper.greet(address):
            # Nothing that the library keeps of a connection is made for it: refusals must cost little.
            self.keeper.turn_away(cast("asyncio.Transport", transport))
            return
        self.client_address = address
        super().connection_made(transport)
        self._known = True
        self._came = monotonic()
        self._new = True
        """Whether no message of it has come yet."""
        self._spoke = False
        self._flooded = False
        now = monotonic_ns()
        self.bucket = self.keeper.bucket(now)
        """What it may send; its session takes each message from it."""
        self._controls = TokenBucket(CONTROLS_PER_SECOND, CONTROL_BURST, now)
        self._fragments = TokenBucket(FRAGMENTS_PER_SECOND, MOST_FRAGMENTS, now)
        self._frames = FrameCounter()
        self._waiting = 0
        """Messages that have arrived whole and are not parsed."""
        self._overrun = False
        """Whether more of them have arrived than it may send."""
        self._unparsed = b""
        self._full = False
        """Whether the queue of what was parsed is full."""
        self._after_close = 0
        # The library pauses the transport when its queue is full; what was received already waits here.
        self.recv_messages.pause, self.recv_messages.resume = self._pause, self._resume

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._known:
            return
        self.keeper.keepalive.remove(self)
        if self.client_address is not None:
            if not self._overrun and self._was_cut_off():
                self.keeper.cut_off(self.client_address)
            self.keeper.leave(self.client_address)
        super().connection_lost(exc)

    def _was_cut_off(self) -> bool:
        if self._flooded:
            return True
        if self.state is State.CONNECTING:
            # Browsers open connections in advance, and may never say a word on them.
            return self._spoke and monotonic() - self._came >= self.patience
        sent = self.protocol.close_sent
        return (
            sent is not None
            and sent.code in FAULTY
            and not self.protocol.close_rcvd_then_sent
            and not sent.reason.startswith(HARMLESS)
        )

    # whether it is there

    def start_keepalive(self) -> None:
        self.keeper.keepalive.add(self)

    def beat(self) -> None:
        """Ping the peer, or end the connection where it has not answered for too long."""
        if self.state is not State.OPEN:
            return
        now = self.loop.time()
        unanswered = next(iter(self.pending_pings.values()), None)
        if unanswered is not None and now - unanswered[1] >= PONG_SECONDS:
            self.protocol.fail(CloseCode.INTERNAL_ERROR, "keepalive ping timeout")
            self.loop.call_later(self.close_timeout or 0, self.transport.abort)
        else:
            data = getrandbits(32).to_bytes(4, "big")
            self.pending_pings[data] = self.loop.create_future(), now
            self.protocol.send_ping(data)
        self.send_data()

    # what it sends

    def data_received(self, data: bytes) -> None:
        if not self._known:
            return
        if self.bucket.asked and self._frames.is_message(data) and not self._unparsed and not self._new:
            # a player's answer: no more is asked of it than this
            self.keeper.answers += 1
            if (
                self._at_rest
                and self.listener is not None
                and data[0] == WHOLE_BINARY
                # what the library would make of it, at a tenth of the time
                and self.listener(apply_mask(data[6:], data[2:6]))
            ):
                return
            self._waiting += 1
            self._parse(data)
            return
        self._spoke = True
        if self.protocol.eof_sent:
            # What comes after the end of the stream is thrown away whole, and soon: who is still sending a
            # huge frame hears why it was refused.
            self._unparsed = b""
            self._parse(data)
            return
        due = False
        if not self._overrun:
            seen = self._seen(data)
            if seen is None:
                self._abort()
                return
            due = not self._new and len(data) <= PIECE and self._due(seen)
        if due and not self._unparsed:
            self._parse(data)
            return
        if not self._unparsed and not self._full:
            self._wait()
        self._unparsed += data
        if self._overrun or len(self._unparsed) >= HOLD:
            self.transport.pause_reading()

    def _seen(self, data: bytes) -> Seen | None:
        """What frames have arrived; None where they are beyond what no limit on messages sees."""
        now = monotonic_ns()
        left = self.bucket.left(now)
        seen = self._frames.look(data, Seen(left, CONTROL_BURST, MOST_FRAGMENTS))
        if seen.controls and not self._controls.take_all(seen.controls, now):
            return None
        if seen.fragments and not self._fragments.take_all(seen.fragments, now):
            return None
        self._waiting += seen.messages
        if self._waiting > left:
            # Its session will refuse whatever comes next, and say why.
            self._overrun = True
            self.bucket.overrun()
            if self.client_address is not None:
                self.keeper.cut_off(self.client_address)
        return seen

    def _due(self, seen: Seen) -> bool:
        """Whether no more has arrived than a client that plays has to say."""
        return seen.controls <= 1 and not seen.fragments and self.bucket.easy(seen.messages, monotonic_ns())

    def _wait(self) -> None:
        queue = self.keeper.newcomers if self._new else self.keeper.floods
        queue.enter(source(self.client_address or ""), self._parse_piece)

    def eof_received(self) -> None:
        if not self._known:
            return
        rest, self._unparsed = self._unparsed, b""
        if rest:
            self._parse(rest)
        super().eof_received()

    def _parse_piece(self) -> None:
        if self._overrun and self.state is State.CLOSING:
            # It has been told why. Until it is over, nothing more of it is read.
            self._unparsed = b""
            return
        # Once this side has ended the stream, because it broke the websocket protocol, the rest is thrown away whole.
        size = len(self._unparsed) if self.protocol.eof_sent else PIECE
        piece, self._unparsed = self._unparsed[:size], self._unparsed[size:]
        self._parse(piece)
        if not self._full:
            self._resume()

    def _pause(self) -> None:
        self._full = True
        self.transport.pause_reading()

    def _resume(self) -> None:
        self._full = False
        if self._unparsed:
            self._wait()
        if not self._overrun and len(self._unparsed) < HOLD:
            self.transport.resume_reading()

    def _parse(self, data: bytes) -> None:
        if self.transport.is_closing():
            self._unparsed = b""
            return
        if self.state is State.CLOSING and not self.protocol.eof_sent:
            self._after_close += len(data)
            if self._after_close > AFTER_CLOSE:
                self._abort()
                return
        super().data_received(data)
        protocol = self.protocol
        self._at_rest = (
            protocol.current_size is None
            and not len(self.recv_messages.frames)
            and protocol.state is State.OPEN
        )

    def process_event(self, event: Event) -> None:
        if isinstance(event, Frame):
            self._new = False
            if event.fin and event.opcode not in CONTROLS:
                self._waiting -= 1
            if self._heard(event):
                return
        super().process_event(event)

    def _heard(self, frame: Frame) -> bool:
        # The library refuses a message that begins within the fragments of another: this is a whole one.
        return (
            self.listener is not None
            and frame.opcode is Opcode.BINARY
            and frame.fin
            and not len(self.recv_messages.frames)
            and self.listener(bytes(frame.data))
        )

    def _abort(self) -> None:
        self._flooded = True
        self._unparsed = b""
        self.transport.abort()


def host_of(peer: object) -> str:
    """The address of a socket's peer, an IPv4 one always as such; a Unix socket's is its own kind."""
    if not (isinstance(peer, tuple) and peer):
        return "local"
    address = str(peer[0]).partition("%")[0]
    return address.removeprefix("::ffff:") if "." in address else address
