"""What a connection writes: messages as long as its peer reads them, and then its end, in time."""

from __future__ import annotations

import asyncio

from websockets.protocol import State
from websockets.server import ServerProtocol

OPEN = State.OPEN
"""Looked up once, as it is asked for with every message: Python 3.11 takes 0.1 µs for a member of an enumeration."""
CLOSE_SECONDS = 2.0
"""How long the closing handshake may take, and with it the peer's reading of what it was told last."""
SLOW_BYTES = 64 * 1024
"""What may wait in the transport before its peer counts as one that reads slowly."""
OUTBOX_BYTES = 128 * 1024
"""What may wait for a peer that reads slowly; one message on top of that is refused."""


class Outgoing:
    """The writing side of one connection."""

    __slots__ = ("_deadline", "_protocol", "_slow", "_transport", "due", "ended")

    def __init__(self, transport: asyncio.Transport, protocol: ServerProtocol) -> None:
        self._transport = transport
        self._protocol = protocol
        self._deadline: asyncio.TimerHandle | None = None
        """What ends the connection where a handshake, the opening or the closing one, is not done in time."""
        self._slow = False
        self.due = False
        """Whether the connection is to be over soon, by the closing handshake or after the answer to a plain GET."""
        self.ended = False
        """Whether this side has ended its stream."""
        transport.set_write_buffer_limits(high=SLOW_BYTES)

    @property
    def slow(self) -> bool:
        """Whether so much waits to be written that the peer counts as one that reads slowly."""
        return self._slow

    @property
    def backlog(self) -> int:
        """How many bytes wait to be read, beside those in the kernel's buffers."""
        return self._transport.get_write_buffer_size()

    def send(self, *messages: bytes | str) -> bool:
        """Write messages without waiting. False, and nothing is written, where too much waits for the peer.

        Nothing is written to a connection that is closing: its receiver will be told.
        """
        protocol = self._protocol
        if protocol.state is not OPEN or self._transport.is_closing():
            return True
        if self._slow and self.backlog > OUTBOX_BYTES:
            return False
        for message in messages:
            if isinstance(message, bytes):
                protocol.send_binary(message)
            else:
                protocol.send_text(message.encode())
        for data in protocol.data_to_send():
            self._transport.write(data)
        return True

    def note(self, *, slow: bool) -> None:
        """Take note of whether so much waits to be written that the peer counts as one that reads slowly."""
        self._slow = slow

    def flush(self, seconds: float = CLOSE_SECONDS) -> None:
        """Write what the library has to say; a connection that is to be over then is given so many seconds."""
        protocol = self._protocol
        waiting = protocol.data_to_send()
        if not waiting and protocol.state is OPEN:
            return
        for data in waiting:
            if self._transport.is_closing():
                return
            if data:
                self._transport.write(data)
            else:
                self._end_stream()
        if not self.due and protocol.close_expected():
            self.due = True
            self.end_after(seconds)

    def go_on(self, protocol: ServerProtocol) -> None:
        """Write the answer that the library has to send, but not the end of the stream after it: `protocol` is next.

        The library ends the stream after each answer that opens no websocket, as it may by RFC 9112, section 9.3; a
        connection that goes on takes a new protocol for its next request.
        """
        for data in self._protocol.data_to_send():
            if data and not self._transport.is_closing():
                self._transport.write(data)
        self._protocol = protocol

    def end_after(self, seconds: float | None) -> None:
        """End the connection after so many seconds, in place of what was said before; None: not at all."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if seconds is not None:
            self._deadline = asyncio.get_running_loop().call_later(seconds, self._transport.abort)

    def _end_stream(self) -> None:
        self.ended = True
        if not self._transport.can_write_eof():  # by TLS no half of a connection can be closed
            self._transport.close()
            return
        try:
            self._transport.write_eof()
        except OSError:  # the peer has reset the connection, and the event loop has not noticed yet
            self._transport.abort()
