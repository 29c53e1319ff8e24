"""What strangers may take of a server. Each limit is an option of `arena serve`, with a safe default."""

from __future__ import annotations

from dataclasses import dataclass

from protocol.messages import MAX_CLIENT_FRAME


@dataclass(frozen=True)
class HostLimits:
    """The limits of one server."""

    connections: int = 4096
    """Connections in all."""
    connections_per_address: int = 64
    """Connections from one address; behind a proxy, from one client address as the proxy tells it."""
    message_bytes: int = MAX_CLIENT_FRAME
    """The size of a message."""
    messages_per_second: float = 50.0
    """Messages of one connection that nobody asked for, on the average."""
    message_burst: int = 200
    """Messages of one connection that nobody asked for, without a pause."""
    cut_offs: int = 20
    """Connections from one address that were ended for what they did, in a minute; the next minute it is refused."""
    hello_seconds: float = 10.0
    """From a connection to the end of its handshake, and from there to its hello."""
    open_challenges: int = 8
    """Open challenges of one bot."""
    challenge_seconds: float = 60.0
    """How long a challenge stays open."""
    matches_per_bot: int = 32
    """Matches in progress of one bot, whatever it says of itself."""
    watched: int = 64
    """Matches that one connection may watch at the same time."""


PRIVATE = HostLimits(
    connections_per_address=4096, messages_per_second=100_000, message_burst=100_000, cut_offs=1_000_000
)
"""For a server whose bots are its owner's own, as in a ladder: many from one address, as fast as they can."""
