"""What strangers may take of a server. Each limit is an option of `arena serve`, with a safe default."""

from __future__ import annotations

from dataclasses import dataclass

from arena.protocol.messages import MAX_CLIENT_FRAME


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
    moves_per_second: float = 100.0
    """Messages of one address, on the average, that are taken as they come; more of them wait for turns. What costs more
    than a move counts as several."""
    cut_offs: int = 20
    """Connections from one address that were ended for what they did, in a minute; the next minute it is refused."""
    hello_seconds: float = 10.0
    """From a connection, or the answer to a plain GET, to the end of its next request, and from a handshake to its hello."""
    open_challenges: int = 8
    """Open challenges of one bot."""
    challenge_seconds: float = 60.0
    """How long a challenge stays open."""
    matches_per_bot: int = 32
    """Matches in progress of one bot, whatever it says of itself."""
    watched: int = 64
    """Matches that one connection may watch at the same time."""
    territories: int = 200
    """Territories of the largest map that is generated for a challenge: one of 200 takes 2 ms, one of 1,000 takes 10."""
    work_ms_per_second: float = 25.0
    """What an address may ask for beside moves, on the average, in ms of the server's time a second."""


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
