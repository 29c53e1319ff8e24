"""One server's messages to another, in order and none missing, whatever a network loses, repeats or brings in another order.

Pure: what is to be sent comes out, what has arrived goes in. A stream is numbered from 1; a sender that cannot go on with
one begins another with a higher number, and tells everything anew in it. What has not been acknowledged is kept, and sent
again when the receiver says how far it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from enum import Enum, auto
from typing import Generic, TypeVar

M = TypeVar("M")


class Arrived(Enum):
    """What a packet of a stream is to its receiver."""

    NEXT = auto()
    """It goes on where the last one ended."""
    FRESH = auto()
    """It begins a later stream: what was told in the one before holds no more."""
    AHEAD = auto()
    """Something before it is missing, and is to be sent again."""
    OLD = auto()
    """Nothing in it is new."""


class Outgoing(Generic[M]):
    """What is sent, until it is acknowledged."""

    def __init__(self, stream: int) -> None:
        self.stream = stream
        self.sent = 0
        """The number of the last message."""
        self._kept: deque[M] = deque()

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, message: M) -> None:
        """Send a message, as the next one."""
        self.sent += 1
        self._kept.append(message)

    def acknowledge(self, stream: int, taken: int) -> None:
        """The receiver has taken so many messages of a stream."""
        if stream != self.stream or taken > self.sent:
            return
        while self._kept and self.sent - len(self._kept) < taken:
            self._kept.popleft()

    def after(self, stream: int, taken: int) -> tuple[int, list[M]]:
        """The number of the first message that a receiver which has taken so many lacks, and all from there on."""
        taken = taken if stream == self.stream else 0
        first = max(taken, self.sent - len(self._kept)) + 1
        return first, list(self._kept)[first - 1 - (self.sent - len(self._kept)) :]

    @property
    def kept(self) -> list[M]:
        """What is not acknowledged."""
        return list(self._kept)


class Incoming:
    """How far the receiver of a stream is."""

    def __init__(self) -> None:
        self.stream = 0
        self.taken = 0
        """The number of the last message that was taken; 0 before the first."""

    def take(self, stream: int, first: int, messages: Sequence[M]) -> tuple[Arrived, Sequence[M]]:
        """What a packet is, and those of its messages that are taken now, in order."""
        if stream < self.stream or first < 1:
            return Arrived.OLD, ()
        fresh = stream > self.stream
        taken = 0 if fresh else self.taken
        if first > taken + 1:
            return Arrived.AHEAD, ()
        new = messages[taken + 1 - first :]
        if not new:
            return Arrived.OLD, ()
        self.stream, self.taken = stream, taken + len(new)
        return (Arrived.FRESH if fresh else Arrived.NEXT), new

    def lacks(self, stream: int, sent: int) -> bool:
        """Whether a sender that has sent so many of a stream has to send some again."""
        return sent > 0 and (stream > self.stream or (stream == self.stream and sent > self.taken))
