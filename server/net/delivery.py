"""Messages on their way from the parser to whoever receives them: made whole, and given one after the other.

At most one message of a connection is given in a turn of the event loop, so that a client which sends many has no
more of it than one that sends a few. Every message takes this way.
"""

from __future__ import annotations

import logging
from asyncio import get_running_loop
from collections import deque
from collections.abc import Callable
from typing import Protocol

from websockets.frames import Frame, Opcode

log = logging.getLogger("arena.connection")

TEXT = Opcode.TEXT
READY_MESSAGES = 4
"""Messages that may wait to be given before no more is parsed."""


class Receiver(Protocol):
    """Whoever is given a connection's messages. What the peer does is no reason for it to raise."""

    def receive(self, message: bytes | str, at: int) -> None:
        """Take a message: the bytes of a binary one, the text of a text one.

        `at` is when it had arrived, in monotonic ns. A receiver that can take no more pauses its connection.
        """
        ...

    def closed(self, fault: str | None) -> None:
        """Take notice that the connection is over, and that every message has been given.

        `fault` is how the peer broke the rules of websockets, where it did.
        """
        ...


class Delivery:
    """Gives the messages of one connection to its receiver, in order, and at last that it is over."""

    __slots__ = (
        "_failed",
        "_garbled",
        "_idle",
        "_kind",
        "_over",
        "_parts",
        "_paused",
        "_receiver",
        "_scheduled",
        "_waiting",
        "_wanted",
    )

    def __init__(self, receiver: Receiver, idle: Callable[[], None], failed: Callable[[], None]) -> None:
        """`idle` is called when more may be parsed and could not be, and `failed` after an exception of the receiver."""
        self._receiver = receiver
        self._idle = idle
        self._failed = failed
        self._parts: list[bytes] = []
        """The fragments of a message whose last one has not come."""
        self._kind = Opcode.BINARY
        """What kind of message those belong to."""
        self._garbled = False
        """Whether a text that is none has come: the connection fails by it, and what comes behind is not taken."""
        self._waiting: deque[tuple[bytes | str, int]] = deque()
        self._scheduled = False
        """Whether the next message is to be given in a turn of its own, or one is being received now."""
        self._paused = False
        self._wanted = False
        """Whether more was to be parsed and could not be."""
        self._over: tuple[str | None] | None = None
        """The fault that the connection ended with, once it has ended and until that is told."""

    def ready(self) -> bool:
        """Whether more may be parsed now; where not, `idle` is called as soon as it may."""
        if self._paused or len(self._waiting) >= READY_MESSAGES:
            self._wanted = True
            return False
        return True

    def add(self, frame: Frame, at: int) -> None:
        """Take in a frame of data that had arrived at `at`. Raises UnicodeDecodeError, once, for text that is none."""
        if self._garbled:
            return
        data = bytes(frame.data)
        kind = frame.opcode
        if self._parts or not frame.fin:
            if not self._parts:
                self._kind = kind
            self._parts.append(data)
            if not frame.fin:
                return
            data, kind = b"".join(self._parts), self._kind
            self._parts = []
        try:
            self._waiting.append((data.decode() if kind is TEXT else data, at))
        except UnicodeDecodeError:
            self._garbled = True
            raise

    def give(self) -> None:
        """Give the next message now, unless one is to be given in a turn that comes anyway."""
        if not self._scheduled:
            self._next()

    def pause(self) -> None:
        """Give nothing until `resume`."""
        self._paused = True

    def resume(self) -> None:
        """Give what waits, and go on."""
        self._paused = False
        self.give()

    def drop(self) -> None:
        """Give no message any more, only that the connection is over."""
        self._waiting.clear()
        self.resume()

    def finish(self, fault: str | None) -> None:
        """Tell the receiver that the connection is over, once it has been given every message."""
        self._over = (fault,)
        self.give()

    def _next(self) -> None:
        if self._waiting and not self._paused:
            message, at = self._waiting.popleft()
            self._scheduled = True  # a receiver that resumes is not given the next one inside this call
            try:
                self._receiver.receive(message, at)
            except Exception:
                log.exception("a message could not be handled")
                self._failed()
            finally:
                self._scheduled = False
        if self._paused:
            return
        if self._waiting:
            self._scheduled = True
            get_running_loop().call_soon(self._turn)
        elif self._over is not None:
            (fault,), self._over = self._over, None
            self._paused = True  # there is nothing after the end
            self._receiver.closed(fault)
        elif self._wanted:
            self._wanted = False
            self._idle()

    def _turn(self) -> None:
        self._scheduled = False
        self._next()
