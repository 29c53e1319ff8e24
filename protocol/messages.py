"""Every message of `arena.v1.msgpack`, as typed structs. PROTOCOL.md says what they mean in use.

On the wire a message is one msgpack map in one binary frame; its `type` is the struct's tag. Fields
that a receiver does not know are ignored, so a later minor version may add some. Times are integer
milliseconds; a ply counts from 0; moves and setups are the plain data of their game.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.codes import Code, EndReason
from protocol.timecontrol import Milliseconds, TimeControl

SUBPROTOCOL = "arena.v1.msgpack"
"""The websocket subprotocol: the version of the wire."""

MAX_CLIENT_FRAME = 16 * 1024
"""Bytes: the largest frame that a server takes from a client."""
MAX_SERVER_FRAME = 4 * 1024 * 1024
"""Bytes: the largest frame that a client must take: a match start on a map of 1,000 territories."""

Seat = Literal["maxie", "minnie"]
Role = Literal["bot", "spectator", "admin"]
Name = Annotated[str, Meta(min_length=1, max_length=64)]
Secret = Annotated[str, Meta(max_length=128)]
MatchId = Annotated[str, Meta(min_length=1, max_length=64)]
Ply = Annotated[int, Meta(ge=0, le=1_000_000)]
Data = Any
"""A move or a value inside a setup: plain data, which the game itself checks."""


class Players(Struct, frozen=True):
    """The bots by seat."""

    maxie: str
    minnie: str


class Clocks(Struct, frozen=True):
    """The time that each player has left, in ms, never below 0."""

    maxie_ms: int
    minnie_ms: int


class Limits(Struct, frozen=True):
    """What the server allows on this connection."""

    message_bytes: int
    """The largest frame that it takes."""
    matches: int
    """How many matches this bot may play at once."""
    grace_ms: Milliseconds
    """How long a dropped bot may take to come back to its matches."""


class Thinking(Struct, frozen=True, omit_defaults=True):
    """What a bot says of how it chose a move; all of it may be left out."""

    depth: Annotated[int, Meta(ge=0, le=100_000)] | None = None
    """Plies searched to the end."""
    value: Annotated[float, Meta(ge=-1e12, le=1e12)] | None = None
    """The value for Maxie, in the bot's own unit."""
    nodes: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    """Positions visited."""
    line: Annotated[list[Data], Meta(max_length=64)] | None = None
    """The main line: the moves expected, this one first."""


# from a client


class Hello(Struct, frozen=True, tag="hello"):
    """The first message of a connection: who it is and what it takes."""

    name: Name
    token: Secret = ""
    """What `arena token create` showed, or what the host gave; empty where none is needed."""
    session: Secret = ""
    """The `welcome.session` of a connection that was lost, to return to its matches."""
    games: Annotated[list[Name], Meta(max_length=32)] = []
    """The games it plays; empty for all."""
    matches: Annotated[int, Meta(ge=1, le=1000)] = 1
    """How many matches it plays at once."""
    program: Annotated[str, Meta(max_length=100)] = ""
    """What runs behind it, for people: `my-bot 1.2`."""


class Ready(Struct, frozen=True, tag="ready"):
    """The bot has made itself ready for a match; no clock runs before both have said so."""

    match: MatchId


class Move(Struct, frozen=True, tag="move"):
    """A move at a ply. Sent again with the same move it is harmless and is acknowledged again."""

    match: MatchId
    ply: Ply
    move: Data
    thinking: Thinking | UnsetType = UNSET


class Resign(Struct, frozen=True, tag="resign"):
    """The bot gives the match up."""

    match: MatchId


# from a server


class Welcome(Struct, frozen=True, tag="welcome"):
    """The answer to hello: the bot is in."""

    server: str
    """The server's program and version, for people."""
    name: str
    session: str
    """A secret with which a new connection takes this one's place, its matches with it."""
    limits: Limits


class Start(Struct, frozen=True, tag="start"):
    """A match is to begin: all that is needed to play it. Answer with `ready` within `ready_ms`."""

    match: MatchId
    game: str
    setup: dict[str, Data]
    seat: Seat
    players: Players
    time_control: TimeControl
    margin_ms: Milliseconds
    """Grace on each move for the network: a flag falls this much later than the clock says."""
    ready_ms: Milliseconds
    threads: Annotated[int, Meta(ge=1, le=4096)] = 1
    """How many threads the bot may search with."""


class Turn(Struct, frozen=True, tag="turn"):
    """It is the receiver's turn. Its clock runs from when this was sent."""

    match: MatchId
    ply: Ply
    moves: list[Data]
    """Every move so far: `ply` of them. Whoever missed a message catches up with these."""
    clocks: Clocks
    """As of sending. Under a time for each move, the mover's is that time."""
    increment_ms: Milliseconds


class Accepted(Struct, frozen=True, tag="accepted"):
    """A move was taken, in time, and is in the journal."""

    match: MatchId
    ply: Ply
    spent_ms: float
    """From the turn's leaving to the move's arrival, to a thousandth of a ms."""
    clock_ms: int
    """What the mover has left, the increment added."""


class End(Struct, frozen=True, tag="end"):
    """The match is over; nothing more is expected for it."""

    match: MatchId
    winner: Seat | None
    reason: EndReason
    detail: str
    """One line for people: whose fault, which move, by how many ms."""
    moves: list[Data]
    clocks: Clocks


class Error(Struct, frozen=True, tag="error"):
    """Something that the client sent was refused."""

    code: Code
    detail: str
    match: str | None = None
    ply: int | None = None
    fatal: bool = False
    """True when the connection closes after this message."""


ClientMessage = Hello | Ready | Move | Resign
ServerMessage = Welcome | Start | Turn | Accepted | End | Error
Message = ClientMessage | ServerMessage
