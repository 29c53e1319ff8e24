"""Limits on the connections, matches and messages of a server's clients: the section `[limits]` of the settings."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from arena.protocol.messages import MAX_CLIENT_FRAME_BYTES


class ServerLimits(Struct, kw_only=True, forbid_unknown_fields=True):
    """Limits that the operator of a server sets on clients, such as the number of connections, matches and messages."""

    connections: Annotated[int, Meta(ge=1, description="Total number of connections.")] = 4096
    connections_per_address: Annotated[
        int, Meta(ge=1, description="Connections per address, once a quarter of the total is open.")
    ] = 64
    message_bytes: Annotated[int, Meta(ge=1024, description="Maximum size of a message, in bytes.")] = (
        MAX_CLIENT_FRAME_BYTES
    )
    messages_per_second: Annotated[
        float,
        Meta(
            ge=1,
            description="Average unrequested messages per second and connection; four times as many in a burst.",
        ),
    ] = 50.0
    moves_per_second: Annotated[
        float,
        Meta(
            ge=1,
            description="Moves per second and address that are handled at once; further ones wait. Costly moves count more.",
        ),
    ] = 100.0
    cut_offs: Annotated[
        int, Meta(ge=1, description="Misbehaving connections per minute before their address is refused.")
    ] = 20
    hello_seconds: Annotated[
        float, Meta(ge=0.1, description="Time for a handshake, a hello or a request to arrive, in seconds.")
    ] = 10.0
    open_challenges: Annotated[int, Meta(ge=1, description="Open challenges per bot.")] = 8
    matches_per_bot: Annotated[int, Meta(ge=1, description="Matches in progress per bot.")] = 32
    watched: Annotated[int, Meta(ge=1, description="Matches watched in parallel per connection.")] = 64
    territories: Annotated[
        int,
        Meta(ge=2, le=1000, description="Maximum number of territories of a map generated for a challenge."),
    ] = 200
    work_ms_per_second: Annotated[
        float,
        Meta(ge=1, description="Server time per address for requests other than moves, in ms per second."),
    ] = 25.0


PRIVATE_SERVER_LIMITS = ServerLimits(
    connections_per_address=4096,
    messages_per_second=100_000,
    moves_per_second=1_000_000,
    cut_offs=1_000_000,
    territories=1000,
    work_ms_per_second=1_000_000.0,
)
"""Limits of a private server, such as one for a ladder: high enough for many bots from one address, at full speed."""
