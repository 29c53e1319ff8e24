"""Every message of `arena.v1.msgpack`, as typed structs. PROTOCOL.md says what they mean in use.

On the wire a message is one msgpack map in one binary frame; its `type` is the struct's tag. Fields
that a receiver does not know are ignored, so a later minor version may add some. Times are integer
milliseconds; a ply counts from 0; moves and setups are the plain data of their game.

What is made for every move has `gc=False`, here and where the referee's own values are: nothing that such a value
holds can hold it, so the collector of cycles need not know of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from arena.protocol.codes import Code, EndReason
from arena.protocol.engines import MOST_THREADS, EngineInfo, Engines, Name
from arena.protocol.timecontrol import Milliseconds, TimeControl, TimeOdds
from arena.protocol.values import (
    Clocks,
    Data,
    GivingUp,
    Limits,
    MatchId,
    Players,
    Ply,
    Quota,
    Role,
    Seat,
    Secret,
    Thinking,
)

SUBPROTOCOL = "arena.v1.msgpack"
"""The websocket subprotocol: the version of the wire."""

MAX_CLIENT_FRAME = 16 * 1024
"""The largest frame that a server takes from a client, in bytes."""
MAX_SERVER_FRAME = 4 * 1024 * 1024
"""The largest frame that a client must take, in bytes: a match start on a map of 1,000 territories."""


class Hello(Struct, frozen=True, tag="hello"):
    """The first message of a connection: who it is and what it takes."""

    name: Name
    token: Secret = ""
    """What `arena token create` showed, or what the host gave; empty where none is needed."""
    session: Secret = ""
    """The `welcome.session` of a connection that was lost, to return to its matches."""
    games: Annotated[list[Name], Meta(max_length=32)] = []
    """The games that the bot plays; empty for all."""
    maps: Annotated[list[Name], Meta(max_length=64)] = []
    """The Riskless maps that the bot plays, by name; empty for all."""
    time_controls: Annotated[list[Annotated[str, Meta(max_length=32)]], Meta(max_length=32)] = []
    """The time controls that the bot plays, as in `10+0.1` and `0.1/move`; empty for all."""
    pool: bool = True
    """Whether the matchmaker may give it matches; a bot that only takes challenges says false."""
    role: Role = "bot"
    """`spectator` only watches; `admin` is for the host's own tools. Both play no matches."""
    matches: Annotated[int, Meta(ge=1, le=1000)] = 1
    """How many matches the bot plays at once."""
    program: Annotated[str, Meta(max_length=100)] = ""
    """What program the bot runs, for people, as in `my-bot 1.2`."""
    quota: Quota | UnsetType = UNSET
    """How many more matches the bot takes in all, from now on; left out for as many as come."""
    engine: EngineInfo | UnsetType = UNSET
    """What chooses its moves. `engine.threads` is how many threads it searches with, unless a `start` allows fewer."""
    rules: Annotated[dict[Name, Name], Meta(max_length=32)] | UnsetType = UNSET
    """The digests of the games of somebody's own that it knows, by name; UNSET of a bot that compares no rules."""


class Ready(Struct, frozen=True, tag="ready"):
    """The bot has made itself ready for a match; no clock runs before both have said so."""

    match: MatchId


class Move(Struct, frozen=True, gc=False, tag="move"):
    """A move at a ply. Sent again with the same move it is harmless and is acknowledged again."""

    match: MatchId
    ply: Ply
    move: Data
    thinking: Thinking | UnsetType = UNSET


class Resign(Struct, frozen=True, tag="resign", omit_defaults=True):
    """The bot gives the match up, or has failed (`crash`); `detail` tells people why, also in the record."""

    match: MatchId
    reason: GivingUp = "resignation"
    detail: Annotated[str, Meta(max_length=200)] = ""


class Status(Struct, frozen=True, tag="status"):
    """Ask how one stands, to be told by `standing`; with a quota, take so many more matches and no others from now on."""

    quota: Quota | UnsetType = UNSET


class Challenge(Struct, frozen=True, tag="challenge"):
    """Ask for a match: of one bot by name, or, with no opponent named, of whoever takes it first."""

    opponent: Annotated[str, Meta(max_length=64)] = ""
    game: Name = "riskless"
    map: Annotated[str, Meta(max_length=64)] = "m2"
    """The name of a shipped or generated map; without meaning for other games."""
    time_control: TimeControl = TimeControl(10_000, 100)
    seat: Seat | None = None
    """The challenger's seat; nil leaves it to the server, which swaps from match to match."""
    rated: bool = True


class Accept(Struct, frozen=True, tag="accept"):
    """Take a challenge, or an open one; a match follows."""

    challenge: MatchId


class Decline(Struct, frozen=True, tag="decline"):
    """Refuse a challenge that names this bot."""

    challenge: MatchId
    reason: Annotated[str, Meta(max_length=200)] = ""


class Withdraw(Struct, frozen=True, tag="withdraw"):
    """Take one's own challenge back."""

    challenge: MatchId


class Watch(Struct, frozen=True, tag="watch"):
    """See a match: a `view` of all so far, then an `update` for each move, then its `end`."""

    match: MatchId


class Unwatch(Struct, frozen=True, tag="unwatch"):
    """See no more of a match."""

    match: MatchId


class Browse(Struct, frozen=True, tag="browse"):
    """Ask for a `listing` now, and for a new one whenever it changes."""


class Ping(Struct, frozen=True, tag="ping"):
    """Is the server there? For a client that cannot send a websocket's own ping."""


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
    threads: Annotated[int, Meta(ge=1, le=MOST_THREADS)] = 1
    """How many threads the bot may search with."""
    rules: Name | UnsetType = UNSET
    """The digest of the rules; UNSET of the games that the specification tells."""


class Turn(Struct, frozen=True, gc=False, tag="turn"):
    """It is the receiver's turn. Its clock runs from when this was sent."""

    match: MatchId
    ply: Ply
    moves: Sequence[Data]
    """Every move so far: `ply` of them. Whoever missed a message catches up with these."""
    clocks: Clocks
    """Both clocks as of sending. Under a time for each move, the mover's is that time."""
    increment_ms: Milliseconds


class Accepted(Struct, frozen=True, gc=False, tag="accepted"):
    """A move was taken, in time, and is in the journal."""

    match: MatchId
    ply: Ply
    spent_ms: float
    """The time from the turn's leaving to the move's arrival, less the credit, in ms to a thousandth."""
    clock_ms: int
    """What the mover has left, the increment added, in ms."""
    credited_ms: float = 0.0
    """What was taken off for the network, in ms: the least of the recent ping times, within a budget (PROTOCOL.md)."""


class End(Struct, frozen=True, tag="end"):
    """The match is over; nothing more is expected for it."""

    match: MatchId
    winner: Seat | None
    reason: EndReason
    detail: str
    """One line for people: whose fault, which move, by how many ms."""
    moves: Sequence[Data]
    clocks: Clocks


class Error(Struct, frozen=True, tag="error"):
    """Something that the client sent was refused."""

    code: Code
    detail: str
    match: str | None = None
    ply: int | None = None
    fatal: bool = False
    """True when the connection closes after this message."""


StandingState = Literal["waiting", "playing", "suspended", "finishing", "idle"]


class Standing(Struct, frozen=True, tag="standing"):
    """How a bot stands with the matchmaker; `detail` tells people what it waits for, or why it gets no matches."""

    state: StandingState
    detail: str
    quota: int | None = None
    """How many more matches the bot takes; None for as many as come."""


class Challenged(Struct, frozen=True, tag="challenged"):
    """A challenge is open: sent to the bot that it names, to its challenger, and when open to all who browse."""

    challenge: str
    challenger: str
    opponent: str
    """The bot that is challenged; empty for an open challenge."""
    game: str
    map: str
    time_control: TimeControl
    seat: Seat | None
    """The challenger's seat; None leaves it to the server."""
    rated: bool
    expires_ms: int
    """How long the challenge stays open from now, in ms."""


ChallengeOutcome = Literal["accepted", "declined", "withdrawn", "expired", "refused"]


class ChallengeOver(Struct, frozen=True, tag="challenge_over"):
    """A challenge is no longer open, and why. `accepted` names the match that follows."""

    challenge: str
    outcome: ChallengeOutcome
    detail: str = ""
    match: str | None = None


class Queued(Struct, frozen=True, tag="queued"):
    """A challenge to one of the server's own bots waits: it has that place among those for the same bot, 1 the next turn."""

    challenge: str
    place: int


class LiveMatch(Struct, frozen=True):
    """A match in progress, as a listing shows it."""

    match: str
    event: str
    game: str
    players: Players
    time_control: TimeControl
    ply: int
    rated: bool = False
    map: str = ""
    """The name of a Riskless map; empty for other games."""


class Present(Struct, frozen=True):
    """A bot that can be asked for a match, as a listing shows it."""

    name: str
    program: str
    matches: int
    """How many matches the bot plays now."""
    capacity: int
    benched: str = ""
    """Why the matchmaker gives it no matches now; empty when it does."""
    house: bool = False
    """Whether the bot is one of the server's own, which is started when somebody challenges it."""


class Listing(Struct, frozen=True, tag="listing"):
    """What goes on: matches in progress, who is connected, open challenges."""

    matches: list[LiveMatch]
    bots: list[Present]
    challenges: list[Challenged]


class Played(Struct, frozen=True, omit_defaults=True):
    """A move that was played, as a spectator sees it."""

    move: Data
    ms: float
    thinking: Thinking | None = None
    """What the mover said of it; never before the opponent has answered the move."""


class View(Struct, frozen=True, tag="view"):
    """All of a match so far, for a spectator."""

    match: str
    event: str
    game: str
    setup: dict[str, Data]
    players: Players
    time_control: TimeControl
    moves: list[Played]
    clocks: Clocks
    mover: Seat | None
    """Whose clock runs; nil before the first turn."""
    engines: Engines = Engines()
    """What chooses the moves of both, as far as they say."""
    time_odds: TimeOdds | UnsetType = UNSET
    """The times of players that have another than `time_control`; left out where nobody has."""


class Update(Struct, frozen=True, tag="update"):
    """A move of a watched match. A spectator that finds a ply missing asks to `watch` again."""

    match: str
    ply: int
    played: Played
    clocks: Clocks


class Thought(Struct, frozen=True, tag="thought"):
    """What the mover of a watched match said of a move, once that can no longer help the opponent."""

    match: str
    ply: int
    thinking: Thinking


class Pong(Struct, frozen=True, tag="pong"):
    """The answer to a ping."""


ClientMessage = (
    Hello
    | Ready
    | Move
    | Resign
    | Status
    | Challenge
    | Accept
    | Decline
    | Withdraw
    | Watch
    | Unwatch
    | Browse
    | Ping
)
PlayMessage = Welcome | Start | Turn | Accepted | End | Error
"""What a bot is told that plays."""
ServerMessage = (
    PlayMessage | Standing | Challenged | Queued | ChallengeOver | Listing | View | Update | Thought | Pong
)
Message = ClientMessage | ServerMessage
