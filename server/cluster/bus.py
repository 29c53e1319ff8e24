"""Interface of the bus that carries frames by subject. Each is delivered at most once, and in order.

NATS implements it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

MAX_PAYLOAD = 1 << 20
"""Maximum size of a message in bytes, as by default in NATS."""

PayloadHandler = Callable[[bytes], None]
"""Function called with the payload of each message. It runs in the event loop, so it must be fast."""


class BusError(Exception):
    """Raised when the bus cannot be used; the message is a one-line reason."""


class Bus(Protocol):
    """Connection of one process to the bus, which carries frames."""

    @property
    def is_connected(self) -> bool:
        """True if the connection is up, as far as is known."""
        ...

    def publish(self, subject: str, payload: bytes) -> bool:
        """Send without waiting. Return False if the message was dropped; True does not guarantee delivery."""
        ...

    async def subscribe(self, subject: str, handler: PayloadHandler) -> None:
        """Pass all messages on a subject to `handler`, also after reconnects."""
        ...
