"""Messages between an edge, which holds connections, and the core, which holds bots and matches.

    edge -> core    AdmissionRequest, MessageReceived, ClientDisconnected, TurnSent, EdgeResynced
    core -> edge    SendToClient, CloseClient, PublishToTopic, RequestResync

In one process, both sides call each other directly. Between processes, `server.cluster` carries the same messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct, field

from arena.protocol.messages import Hello
from arena.server.core.effects import CloseClient, PublishToTopic, SendToClient
from arena.server.core.inputs import ClientDisconnected, EdgeResynced, MessageReceived, TurnSent


class AdmissionRequest(Struct, frozen=True, tag="knock"):
    """`hello` message of a client that waits to be admitted or refused."""

    client_number: int = field(name="client")
    """Number of the client.

    Its high bits (`inputs.EDGE_NUMBER_SHIFT_BITS`) are the number of the edge that holds the connection.
    """
    hello: Hello
    address: str
    """IP address of the client, as text; empty if unknown."""


class RequestResync(Struct, frozen=True, tag="resync"):
    """Request of the server's core to an edge (holder of connections) for its list of clients. `EdgeResynced` is the answer."""


MessageToCore = AdmissionRequest | MessageReceived | ClientDisconnected | TurnSent | EdgeResynced
MessageToEdge = SendToClient | CloseClient | PublishToTopic | RequestResync


class CorePort(Protocol):
    """Interface through which an edge (process that holds clients' connections) reaches the server's core."""

    def submit(self, message: MessageToCore) -> None:
        """Accept a message without waiting. The messages of one client are handled in the order of the calls."""
        ...


class EdgePort(Protocol):
    """Interface through which the server's core reaches an edge (process that holds clients' connections)."""

    def deliver_from_core(self, messages: Sequence[MessageToEdge]) -> None:
        """Deliver messages to the edge (holder of connections) and its clients, in order, without waiting."""
        ...
