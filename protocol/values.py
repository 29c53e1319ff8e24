"""The values that messages and records have in common: who plays, what a move is, what time is left."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from arena.protocol.timecontrol import Milliseconds

Seat = Literal["maxie", "minnie"]
Role = Literal["bot", "spectator", "admin"]
Secret = Annotated[str, Meta(max_length=128)]
MatchId = Annotated[str, Meta(min_length=1, max_length=64)]
Ply = Annotated[int, Meta(ge=0, le=1_000_000)]
GivingUp = Literal["resignation", "crash"]
Quota = Annotated[int, Meta(ge=0, le=1_000_000)]
Data = Any
"""A move or a value inside a setup: plain data, which the game itself checks."""


class Players(Struct, frozen=True):
    """The bots by seat."""

    maxie: str
    minnie: str


class Clocks(Struct, frozen=True, gc=False):
    """The time that each player has left, in ms, never below 0."""

    maxie_ms: int
    minnie_ms: int


class Limits(Struct, frozen=True):
    """What the server allows on this connection."""

    message_bytes: int
    """The largest frame that the server takes from this connection, in bytes."""
    matches: int
    """How many matches this bot may play at once."""
    grace_ms: Milliseconds
    """How long a dropped bot may take to come back to its matches."""


class Thinking(Struct, frozen=True, omit_defaults=True):
    """What a bot says of how it chose a move; all of it may be left out."""

    depth: Annotated[int, Meta(ge=0, le=100_000)] | None = None
    """How many plies were searched to the end."""
    value: Annotated[float, Meta(ge=-1e12, le=1e12)] | None = None
    """The value for Maxie, in the bot's own unit."""
    nodes: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    """How many positions were visited."""
    line: Annotated[list[Data], Meta(max_length=64)] | None = None
    """The main line: the moves expected, this one first."""
