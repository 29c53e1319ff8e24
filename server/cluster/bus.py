"""Interface of the message bus, which connects the processes of a cluster.

A message is published on a subject (a name), and delivered at most once to each subscriber of that subject. Messages of
one publisher arrive in order. `nats.NatsBus` implements the interface.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

MAX_PAYLOAD_BYTES = 1 << 20
"""Maximum size of a message, in bytes. It is the default limit of NATS."""

PayloadHandler = Callable[[bytes], None]
"""Function called with the payload of each received message. It blocks the event loop while it runs, so it must be fast."""


class BusError(Exception):
    """Raised when the bus cannot be reached or its settings are invalid; the message is a one-line reason."""


class Bus(Protocol):
    """Connection of one process to the message bus of its cluster."""

    def publish(self, subject: str, payload: bytes) -> bool:
        """Publish a message on a subject without waiting.

        Return False if the message is dropped, for example because there is no connection. Return True if it is queued or sent,
        which does not guarantee delivery.
        """
        ...

    async def subscribe(self, subject: str, handler: PayloadHandler) -> None:
        """Call `handler` with each message that is published on a subject from now on.

        The subscription survives reconnects. Messages published while the connection is down are lost.
        """
        ...
