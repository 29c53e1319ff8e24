"""Messages between an edge, which holds connections, and the core, which holds the arena.

    edge -> core    AdmissionRequest, MessageReceived, ClientDisconnected, TurnSent, EdgeResynced
    core -> edge    SendToClient, CloseClient, Publish, Resync

In one process, both sides call each other directly. Between processes, `server.cluster` carries the same messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from arena.protocol.messages import Hello
from arena.server.core.effects import CloseClient, Publish, SendToClient
from arena.server.core.inputs import ClientDisconnected, EdgeResynced, MessageReceived, TurnSent


class AdmissionRequest(Struct, frozen=True, tag="knock"):
    """Hello of a client that waits for admission or refusal."""

    client: int
    hello: Hello
    address: str


class Resync(Struct, frozen=True, tag="resync"):
    """Request to an edge to list its connected clients. The edge answers with `EdgeResynced`."""


Upward = AdmissionRequest | MessageReceived | ClientDisconnected | TurnSent | EdgeResynced
Downward = SendToClient | CloseClient | Publish | Resync


class CorePort(Protocol):
    """Interface of the core for an edge."""

    def submit(self, message: Upward) -> None:
        """Accept a message. Messages are handled in the order of the calls."""
        ...


class EdgePort(Protocol):
    """Interface of an edge for the core."""

    def deliver(self, messages: Sequence[Downward]) -> None:
        """Deliver messages to the edge's clients, in order."""
        ...
