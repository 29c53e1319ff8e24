"""Types that messages and records share: players, moves, clocks and limits."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from arena.protocol.timecontrol import Milliseconds

Seat = Literal["maxie", "minnie"]
"""Side that a bot plays in a match: `maxie`, who moves first, or `minnie`."""
Role = Literal["bot", "spectator", "admin"]
"""Role of a client: `bot` plays, `spectator` watches, and `admin` watches and manages the server for its operator."""
Secret = Annotated[str, Meta(max_length=128)]
"""Token of a client, or secret of a bot's session."""
MatchId = Annotated[str, Meta(min_length=1, max_length=64)]
"""Identifier of a match (as in the match's record) or of a challenge."""
Ply = Annotated[int, Meta(ge=0, le=1_000_000)]
"""Number of a move in a match, counted from 0 over both players."""
ResignReason = Literal["resignation", "crash"]
"""Reason of a resignation: the bot's own choice, or a crash of its process."""
MatchQuota = Annotated[int, Meta(ge=0, le=1_000_000)]
"""Number of further matches that a bot accepts."""
PlainData = Any
"""Move, or value in the setup of a game: plain data, as in JSON. Only the rules of the game decide whether it is valid."""
Opening = tuple[PlainData, ...]
"""First moves of a match, which the referee plays for both bots. No move of an opening ends the game."""


class Players(Struct, frozen=True):
    """Names of the two bots of a match, by seat."""

    maxie: str
    minnie: str

    def get_bot_name(self, seat: str) -> str:
        """Return the name of the bot in a seat: `maxie` or `minnie`."""
        return self.maxie if seat == "maxie" else self.minnie


class Clocks(Struct, frozen=True, gc=False):
    """Time left for each player, in ms, never below 0."""

    maxie_ms: int
    minnie_ms: int


class ClientLimits(Struct, frozen=True):
    """Limits that the server sets for a client, sent in `welcome`."""

    message_bytes: int
    """Maximum size of a frame that the server accepts from this connection, in bytes."""
    matches: int
    """Maximum number of matches that this bot may play in parallel."""
    grace_ms: Milliseconds
    """Time within which a disconnected bot must reconnect to keep its matches, in ms."""


class Thinking(Struct, frozen=True, omit_defaults=True):
    """Bot's analysis, sent with a move. Every field is optional: None if the bot does not send it."""

    depth: Annotated[int, Meta(ge=0, le=100_000)] | None = None
    """Completed search depth, in plies."""
    value: Annotated[float, Meta(ge=-1e12, le=1e12)] | None = None
    """Value of the position for Maxie, in the bot's own unit."""
    nodes: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    """Number of positions that the search visited."""
    line: Annotated[list[PlainData], Meta(max_length=64)] | None = None
    """Main line: the expected moves, beginning with the move sent."""
    cpu_ms: Annotated[float, Meta(ge=0, le=1e9)] | None = None
    """CPU time that the bot used since its previous move, in ms."""
