"""What strangers may take of a server. Each limit is an option of `arena serve`, with a safe default."""

from __future__ import annotations

from dataclasses import dataclass

from protocol.messages import MAX_CLIENT_FRAME


@dataclass(frozen=True)
class HostLimits:
    """The limits of one server."""

    connections: int = 4096
    """In all."""
    connections_per_address: int = 64
    """From one address; behind a proxy, from one client address as the proxy tells it."""
    message_bytes: int = MAX_CLIENT_FRAME
    messages_per_second: float = 50.0
    """Of one connection, on the average."""
    message_burst: int = 200
    """Of one connection, at once."""
    cut_offs: int = 20
    """Connections from one address that were ended for what they did, in a minute; the next minute it is refused."""
    hello_seconds: float = 10.0
    """From the connection to its hello, the handshake included."""
    open_challenges: int = 8
    """Of one bot."""
    challenge_seconds: float = 60.0
    """How long a challenge stays open."""
    matches_per_bot: int = 32
    """At once, whatever a bot says of itself."""
    watched: int = 64
    """Matches that one connection may watch at once."""


PRIVATE = HostLimits(
    connections_per_address=4096, messages_per_second=100_000, message_burst=100_000, cut_offs=1_000_000
)
"""For a server whose bots are its owner's own, as in a ladder: many from one address, as fast as they can."""
