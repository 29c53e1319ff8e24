"""What has arrived on a connection, counted by the heads of its frames before any of it is parsed.

A frame's head tells its kind and its length (RFC 6455, section 5.2), so that a flood is known for one at the price
of a few bytes a frame: to parse, queue and answer a message costs a hundred times as much.
"""

from __future__ import annotations

from typing import NamedTuple

CONTROL = 0x08
"""The bit of an opcode that all control frames have, and no other frame (RFC 6455, section 5.5)."""
FINAL = 0x80
"""The bit of a frame's first byte that the last or only frame of a message has."""
MASKED = 0x80
"""The bit of a frame's second byte that all frames of a client have."""


class FramesSeen(NamedTuple):
    """Frames that are whole, by what becomes of them."""

    messages: int = 0
    """Last or only frames of messages."""
    controls: int = 0
    """Pings, pongs and closes."""
    fragments: int = 0
    """Frames of messages that go on."""


NOTHING = FramesSeen()


class FrameCounter:
    """Follows one client's stream of frames, from the end of the opening handshake on."""

    __slots__ = ("_first", "_head", "_rest")

    def __init__(self) -> None:
        self._head = b""
        """The beginning of a frame's head that has not come whole."""
        self._rest = 0
        """Bytes of the payload of the frame before that are still to come."""
        self._first = 0
        """The first byte of the frame before."""

    def look(self, data: bytes, most: FramesSeen) -> FramesSeen:
        """Count the frames that `data` completes, and stop where there are more of a kind than `most` of it."""
        if self._rest > len(data):
            self._rest -= len(data)
            return NOTHING
        return self._count(data, most)

    def is_message(self, data: bytes) -> bool:
        """Whether `data` is one short message and nothing else, as nearly always where somebody plays.

        Such data need not be looked at: it changes nothing here.
        """
        return (
            1 < len(data) == (data[1] ^ MASKED) + 6 < 132
            and data[0] & (FINAL | CONTROL) == FINAL
            and not (self._head or self._rest)
        )

    def _count(self, data: bytes, most: FramesSeen) -> FramesSeen:
        messages = controls = fragments = 0
        # As if the frame that began before had ended just here.
        at, ended, first = self._rest, self._rest > 0, self._first
        self._rest = 0
        if self._head:
            data, self._head = self._head + data, b""
        while True:
            if ended:
                if first & CONTROL:
                    controls += 1
                elif first & FINAL:
                    messages += 1
                else:
                    fragments += 1
                if messages > most.messages or controls > most.controls or fragments > most.fragments:
                    break
            left = len(data) - at
            if left < 2:
                self._head = data[at:]
                break
            first, second = data[at], data[at + 1]
            size, wide = second & 0x7F, 2
            if size >= 126:
                wide = 4 if size == 126 else 10
                if left < wide:
                    self._head = data[at:]
                    break
                size = int.from_bytes(data[at + 2 : at + wide], "big")
            at += wide + size + (4 if second & MASKED else 0)
            ended = at <= len(data)
            if not ended:
                self._rest, self._first = at - len(data), first
                break
        return FramesSeen(messages, controls, fragments)
