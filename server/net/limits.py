"""Limits on what strangers may take of a server: the section `[limits]` of a host's settings."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from arena.protocol.messages import MAX_CLIENT_FRAME

INBOX = 64
"""Events that may wait in one match; a bot that floods its match waits in its own connection."""


class HostLimits(Struct, kw_only=True, forbid_unknown_fields=True):
    """Limits on what clients may take of the server."""

    connections: Annotated[int, Meta(ge=1, description="Connections in all.")] = 4096
    connections_per_address: Annotated[
        int, Meta(ge=1, description="Connections from one address; behind a proxy, from one client.")
    ] = 64
    message_bytes: Annotated[int, Meta(ge=1024, description="Bytes of one message.")] = MAX_CLIENT_FRAME
    messages_per_second: Annotated[
        float, Meta(ge=1, description="Messages of one connection that nobody asked for, on average.")
    ] = 50.0
    message_burst: Annotated[
        int, Meta(ge=1, description="Messages of one connection that nobody asked for, at once.")
    ] = 200
    moves_per_second: Annotated[
        float, Meta(ge=1, description="Moves of one address before others go first; costly ones count more.")
    ] = 100.0
    cut_offs: Annotated[
        int, Meta(ge=1, description="Misbehaving connections a minute before their address is refused.")
    ] = 20
    hello_seconds: Annotated[
        float, Meta(ge=0.1, description="Time for a handshake, a hello or a request to arrive.")
    ] = 10.0
    open_challenges: Annotated[int, Meta(ge=1, description="Open challenges of one bot.")] = 8
    challenge_seconds: Annotated[float, Meta(gt=0, description="Lifetime of an open challenge.")] = 60.0
    matches_per_bot: Annotated[int, Meta(ge=1, description="Matches in progress of one bot.")] = 32
    watched: Annotated[int, Meta(ge=1, description="Matches that one connection watches at once.")] = 64
    territories: Annotated[
        int, Meta(ge=2, le=1000, description="Territories of a map generated for a challenge.")
    ] = 200
    work_ms_per_second: Annotated[
        float, Meta(ge=1, description="Server time of one address for requests beside moves.")
    ] = 25.0
    inbox: Annotated[int, Meta(ge=1, description="Events that may wait in one match.")] = INBOX


PRIVATE = HostLimits(
    connections_per_address=4096,
    messages_per_second=100_000,
    message_burst=100_000,
    moves_per_second=1_000_000,
    cut_offs=1_000_000,
    territories=1000,
    work_ms_per_second=1_000_000.0,
)
"""For a server whose bots are its owner's own, as in a ladder: many from one address, as fast as they can."""
