"""Every message of `arena.v1.msgpack`, as typed structs. PROTOCOL.md explains their use.

On the wire a message is one msgpack map in one binary frame; its `type` is the struct's tag. Receivers ignore unknown
fields, so a later minor version may add some. Times are integer milliseconds; a ply counts from 0; moves and setups are
the plain data of their game.

Structs created for every move have `gc=False`, here and in the referee: they are never part of a reference cycle, so
the cyclic garbage collector need not track them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.engines import MAX_REPORTED_THREADS, EngineInfo, EnginesBySeat, Name
from arena.protocol.record import Record
from arena.protocol.timecontrol import Milliseconds, TimeControl, TimeOdds
from arena.protocol.values import (
    ClientLimits,
    Clocks,
    MatchId,
    MatchQuota,
    PlainData,
    Players,
    Ply,
    ResignReason,
    Role,
    Seat,
    Secret,
    Thinking,
)

SUBPROTOCOL = "arena.v1.msgpack"
"""Name of the websocket subprotocol, which includes the version of the protocol."""

MAX_CLIENT_FRAME_BYTES = 16 * 1024
"""Default maximum size, in bytes, of a frame that a server accepts from a client. The server's operator can set another
maximum.
"""
MAX_SERVER_FRAME_BYTES = 4 * 1024 * 1024
"""Maximum size of a frame that a server sends, in bytes: enough for `start` on a map of 1,000 territories."""


class Hello(Struct, frozen=True, tag="hello"):
    """First message of a connection: the identity of the client, and the matches that it accepts."""

    name: Name
    token: Secret = ""
    """Token that proves the name, from `arena token create` or an invitation; empty for a client without one."""
    session: Secret = ""
    """Field `session` of the `welcome` on a lost connection, to return to the matches of that connection; empty for a new
    session.
    """
    games: Annotated[list[Name], Meta(max_length=32)] = []
    """Games that the bot plays; empty for all."""
    maps: Annotated[list[Name], Meta(max_length=64)] = []
    """Riskless maps that the bot plays, by name; empty for all."""
    time_controls: Annotated[list[Annotated[str, Meta(max_length=32)]], Meta(max_length=32)] = []
    """Time controls that the bot plays, such as `10+0.1` and `0.1/move`; empty for all."""
    pool: bool = True
    """True if the matchmaker may pair the bot. Otherwise the bot plays only challenges and tournaments."""
    role: Role = "bot"
    """Role of the client. `spectator` only watches; `admin` is for tools of the server's operator. Neither plays matches."""
    matches: Annotated[int, Meta(ge=1, le=1000)] = 1
    """Maximum number of matches that the bot plays in parallel."""
    program: Annotated[str, Meta(max_length=100)] = ""
    """Human-readable name and version of the bot's program, such as `my-bot 1.2`."""
    quota: MatchQuota | UnsetType = UNSET
    """Number of further matches that the bot accepts; omitted for no limit."""
    engine: EngineInfo | UnsetType = UNSET
    """Engine that chooses the moves. `engine.threads` is its number of search threads, unless a `start` allows fewer."""
    rules: Annotated[dict[Name, Name], Meta(max_length=32)] | UnsetType = UNSET
    """Digest (hash) of each custom game's rules that the bot knows, by the game's name; UNSET if the bot checks no rules."""


class Ready(Struct, frozen=True, tag="ready"):
    """Statement that the bot is ready for a match. No clock runs before both bots are ready."""

    match: MatchId


class Move(Struct, frozen=True, gc=False, tag="move"):
    """Move of a bot. `ply` is the number of the move in the match, from 0. If a bot repeats a move, the server repeats its
    answer.
    """

    match: MatchId
    ply: Ply
    move: PlainData
    thinking: Thinking | UnsetType = UNSET


class Resign(Struct, frozen=True, tag="resign", omit_defaults=True):
    """Resignation of a match by a bot that gives up or has crashed. `detail` is a reason for people, kept in the record."""

    match: MatchId
    reason: ResignReason = "resignation"
    detail: Annotated[str, Meta(max_length=200)] = ""


class Status(Struct, frozen=True, tag="status"):
    """Bot's request for `standing`, its state in matchmaking. `quota` sets how many further matches the bot accepts."""

    quota: MatchQuota | UnsetType = UNSET


class Challenge(Struct, frozen=True, tag="challenge"):
    """Request for a match with one bot by name, or with any bot if no opponent is named."""

    opponent: Annotated[str, Meta(max_length=64)] = ""
    game: Name = "riskless"
    map: Annotated[str, Meta(max_length=64)] = "m2"
    """Name of a built-in or generated Riskless map. Ignored for other games."""
    time_control: TimeControl = TimeControl(10_000, 100)
    seat: Seat | None = None
    """The challenger's seat; None leaves it to the server, which swaps seats from match to match."""
    rated: bool = True


class Accept(Struct, frozen=True, tag="accept"):
    """Acceptance of a challenge that names the sender of this message, or that names no bot. A match follows."""

    challenge: MatchId


class Decline(Struct, frozen=True, tag="decline"):
    """Refusal of a challenge that names the sender of this message."""

    challenge: MatchId
    reason: Annotated[str, Meta(max_length=200)] = ""


class Withdraw(Struct, frozen=True, tag="withdraw"):
    """Withdrawal of a challenge that the sender of this message has opened."""

    challenge: MatchId


class EnterEvent(Struct, frozen=True, tag="enter"):
    """Request to enter an event (tournament), or to return to it after a withdrawal. The answer is `event_state`."""

    event: Name


class LeaveEvent(Struct, frozen=True, tag="leave"):
    """Request to play no more matches in an event (tournament). The answer is `event_state`."""

    event: Name


class Watch(Struct, frozen=True, tag="watch"):
    """Request to watch a match. The server sends a `view` of the match so far, an `update` for each move, and the `end`."""

    match: MatchId


class Unwatch(Struct, frozen=True, tag="unwatch"):
    """Request to stop watching a match."""

    match: MatchId


class Browse(Struct, frozen=True, tag="browse"):
    """Request for a `listing` (matches, bots, challenges and events) now, and for a new `listing` after each change."""


class Ping(Struct, frozen=True, tag="ping"):
    """Check whether the server responds, for clients that cannot send websocket pings. The answer is `pong`."""


class Welcome(Struct, frozen=True, tag="welcome"):
    """Answer to `hello`: the server has accepted the client. It tells the session and the client's limits."""

    server: str
    """Human-readable name and version of the server's program."""
    name: str
    session: str
    """Secret with which a new connection can replace this connection and take over its matches."""
    limits: ClientLimits


class Start(Struct, frozen=True, tag="start"):
    """Start of a match, with all data that a bot needs to play it. The bot must reply with `ready` within `ready_ms` ms."""

    match: MatchId
    game: str
    setup: dict[str, PlainData]
    seat: Seat
    """Side that the receiver plays: `maxie`, who moves first, or `minnie`."""
    players: Players
    time_control: TimeControl
    """Time control of the receiver, which may differ from the opponent's."""
    margin_ms: Milliseconds
    """Grace time on each move for network delay, in ms. The bot loses on time only when its clock is this far below 0."""
    ready_ms: Milliseconds
    threads: Annotated[int, Meta(ge=1, le=MAX_REPORTED_THREADS)] = 1
    """Maximum number of search threads that the receiver may use."""
    rules: Name | UnsetType = UNSET
    """Digest (hash) of a custom game's rules, by which the bot detects other rules; UNSET for a game defined in PROTOCOL.md."""
    rated: bool | UnsetType = UNSET
    """True if the match counts for the ratings; otherwise UNSET."""


class Turn(Struct, frozen=True, gc=False, tag="turn"):
    """Request for the receiver's next move. The receiver's clock runs from the moment this message is sent."""

    match: MatchId
    ply: Ply
    moves: Sequence[PlainData]
    """All moves so far, `ply` in number, so that a client that missed a message can catch up."""
    clocks: Clocks
    """Time left for each player at the time of sending. With a time per move, the mover's value is the full time for a move."""
    increment_ms: Milliseconds


class Accepted(Struct, frozen=True, gc=False, tag="accepted"):
    """Notice that a move was accepted in time, and is stored."""

    match: MatchId
    ply: Ply
    spent_ms: float
    """Time from sending `turn` to the arrival of the move, less `credited_ms` (for the network), in ms with three decimals."""
    clock_ms: int
    """Time on the mover's clock after the move, in ms, increment included."""
    credited_ms: float = 0.0
    """Network delay that is not charged to the mover's clock, in ms.

    The credit is the smallest recent ping time of the mover's connection, limited by the mover's budget (PROTOCOL.md).
    """


class End(Struct, frozen=True, tag="end"):
    """End of a match. No more messages about the match follow, except answers to messages that a bot sends too late."""

    match: MatchId
    winner: Seat | None
    reason: EndReason
    detail: str
    """Human-readable explanation of the end, in one line."""
    moves: Sequence[PlainData]
    clocks: Clocks

    @classmethod
    def from_record(cls, record: Record, clocks: Clocks) -> End:
        """Return the end message of a recorded match; `clocks` are the clocks at its end."""
        result, moves = record.result, [move.move for move in record.moves]
        return cls(record.match, result.winner, result.reason, result.detail, moves, clocks)


class Error(Struct, frozen=True, tag="error"):
    """Refusal of a message by the server."""

    code: ErrorCode
    detail: str
    match: str | None = None
    """Id of the match that the refused message concerned; None for a message about no match."""
    ply: int | None = None
    """Ply of the refused move; None for other messages."""
    fatal: bool = False
    """True if the connection closes after this message."""


MatchmakingState = Literal["waiting", "playing", "suspended", "finishing", "idle"]
"""State of a bot in the matchmaker (the part of the server that pairs waiting bots).

waiting    the bot waits for a match
playing    the bot has matches in progress
suspended  the bot gets no matches for a while, because it keeps failing
finishing  the bot accepts no more matches
idle       the server offers no matches of the kind that the bot plays
"""


class Standing(Struct, frozen=True, tag="standing"):
    """State of a bot in matchmaking, for example in reply to `status`. `detail` says why the bot waits or gets no matches."""

    state: MatchmakingState
    detail: str
    quota: int | None = None
    """Number of further matches that the bot accepts; None for no limit."""
    ratings: dict[str, float] | UnsetType = UNSET
    """Rating of the bot in each game; UNSET if it has none."""
    deviations: dict[str, float] | UnsetType = UNSET
    """Deviation (standard error) of the bot's rating in each game; UNSET if it has none."""


class Challenged(Struct, frozen=True, tag="challenged"):
    """Challenge that waits for an answer, sent to the challenger and to the challenged bot.

    If any bot may accept, the message goes to the challenger alone. Other bots see the open challenges in `listing`.
    """

    challenge: str
    """Identifier of the challenge."""
    challenger: str
    """Name of the bot that challenges."""
    opponent: str
    """Name of the challenged bot; empty if any bot may accept."""
    game: str
    map: str
    time_control: TimeControl
    seat: Seat | None
    """The challenger's seat; None leaves it to the server."""
    rated: bool
    expires_ms: int
    """Time until the challenge expires, in ms."""


ChallengeOutcome = Literal["accepted", "declined", "withdrawn", "expired", "refused"]
"""Way in which a challenge ended.

accepted   a bot accepted the challenge, and a match follows
declined   the challenged bot declined the challenge
withdrawn  the challenger took the challenge back, or one of the two bots disconnected
expired    no bot answered in time
refused    one of the two bots had no room for another match
"""


class ChallengeOver(Struct, frozen=True, tag="challenge_over"):
    """End of a challenge. `outcome` says how it ended. `match` is the match that follows an accepted challenge."""

    challenge: str
    outcome: ChallengeOutcome
    detail: str = ""
    match: str | None = None


class Queued(Struct, frozen=True, tag="queued"):
    """Notice that a challenged bot, which the server itself runs, is busy.

    `place` is the position of the challenge in the bot's queue, from 1.
    """

    challenge: str
    place: int


EventPhase = Literal["open", "running", "paused", "over", "cancelled"]
"""Phase of an event (tournament).

open       bots can enter the event
running    the event has begun
paused     the server's operator has stopped the event for a while
over       the event has ended
cancelled  the event has ended early, or was not played
"""


class EventStatus(Struct, frozen=True, tag="event_state"):
    """State of an event (tournament) and of the receiving bot in it. Answers `enter` and `leave`, and follows each change."""

    event: str
    state: EventPhase
    entered: bool
    """True if the bot takes part in the event: it has entered it, and was not withdrawn since."""
    detail: str
    """Human-readable state of the event, in one line."""
    begins_ms: int = 0
    """Time until the event begins, in ms; 0 once it has begun."""
    round: int = 0
    """Current round, from 1; 0 if none is being played."""
    rank: int | UnsetType = UNSET
    """Final rank of the bot, from 1; bots that tie share a rank. UNSET before the end, or if the bot did not play."""
    points: float | UnsetType = UNSET
    """Points of the bot: 1 for a win, ½ for a draw. Sent with `rank`."""
    table: str | UnsetType = UNSET
    """Path of the final table on the server's page; UNSET before the end, or if the server keeps no table."""


class ListedEvent(Struct, frozen=True):
    """Entry of a listing for an event (tournament) that is announced or in progress."""

    event: str
    state: EventPhase
    format: str
    game: str
    entries: int
    """Number of bots that entered the event."""
    begins_ms: int
    """Time until the event begins, in ms; 0 once it has begun."""
    round: int
    """Current round, from 1; 0 if none is being played."""
    rounds: int
    """Number of rounds; 0 if the event ends at a fixed time."""


class LiveMatch(Struct, frozen=True):
    """A match in progress, in the server's list of matches."""

    match: str
    event: str
    game: str
    players: Players
    time_control: TimeControl
    ply: int
    """Number of moves so far."""
    rated: bool = False
    map: str = ""
    """Name of the Riskless map; empty for other games."""


class ListedBot(Struct, frozen=True):
    """Entry of a listing for a bot that can be challenged: a connected bot, or a bot that the server itself runs."""

    name: str
    program: str
    matches: int
    """Number of matches in progress."""
    capacity: int
    """Maximum number of matches that the bot plays in parallel."""
    benched: str = ""
    """Reason why the matchmaker now gives the bot no matches; empty if the bot can get matches."""
    house: bool = False
    """True for a bot that the server itself runs. The server starts it when somebody challenges it."""


class Listing(Struct, frozen=True, tag="listing"):
    """Current matches, bots, open challenges and events (tournaments) of a server, for a client that sent `browse`."""

    matches: list[LiveMatch]
    bots: list[ListedBot]
    challenges: list[Challenged]
    events: list[ListedEvent] = []
    """Events (tournaments) that are announced or in progress."""


class Played(Struct, frozen=True, omit_defaults=True):
    """Move of a match, with its time and the bot's analysis, as sent to spectators."""

    move: PlainData
    ms: float
    """Time charged to the mover's clock, in ms."""
    thinking: Thinking | None = None
    """Mover's analysis; None if there is none, or until the opponent has moved, so that it cannot help the opponent."""


class View(Struct, frozen=True, tag="view"):
    """Whole match so far, sent to a spectator who begins to watch the match or who has missed updates."""

    match: str
    event: str
    game: str
    setup: dict[str, PlainData]
    players: Players
    time_control: TimeControl
    moves: list[Played]
    clocks: Clocks
    mover: Seat | None
    """Player whose clock runs; None before the first move is requested."""
    engines: EnginesBySeat = EnginesBySeat()
    """Description of each player's engine; None for a player whose bot sent none."""
    time_odds: TimeOdds | UnsetType = UNSET
    """Time control of each player who does not use `time_control`; omitted if both use it."""
    absent: dict[Seat, Milliseconds] | UnsetType = UNSET
    """Time left for each disconnected player to reconnect before losing, in ms; omitted if both are connected."""


class ConnectionStatus(Struct, frozen=True, tag="presence"):
    """Disconnected players of a watched match, sent whenever a player loses its connection or returns."""

    match: str
    absent: dict[Seat, Milliseconds]
    """Time left for each disconnected player to reconnect, in ms; empty if both are connected."""


class Update(Struct, frozen=True, tag="update"):
    """New move of a watched match. Updates come in order. If the server dropped some, it sends a `view` of the match first."""

    match: str
    ply: int
    played: Played
    clocks: Clocks
    watching: int | UnsetType = UNSET
    """Number of clients that watch the match through the same server process as the receiver."""


class Thought(Struct, frozen=True, tag="thought"):
    """Bot's analysis of its move. Spectators of the match get it once it can no longer help the opponent."""

    match: str
    """Id of the watched match."""
    ply: int
    thinking: Thinking


class Pong(Struct, frozen=True, tag="pong"):
    """Answer of the server to `ping`."""


class Notice(Struct, frozen=True, tag="notice"):
    """Announcement by the server's operator to all clients, also those that connect while it is valid."""

    text: str
    """Human-readable text; empty if the last notice was withdrawn."""
    until: str
    """Time at which the notice ends, ISO 8601 in UTC; empty if the notice has no end."""


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
    | EnterEvent
    | LeaveEvent
    | Watch
    | Unwatch
    | Browse
    | Ping
)
"""Any message from a client to a server."""
ServerMessage = (
    Welcome
    | Start
    | Turn
    | Accepted
    | End
    | Error
    | Standing
    | Challenged
    | Queued
    | ChallengeOver
    | EventStatus
    | Listing
    | View
    | ConnectionStatus
    | Update
    | Thought
    | Pong
    | Notice
)
"""Any message from a server to a client."""
Message = ClientMessage | ServerMessage


def redact_secrets(message: Message) -> Message:
    """Return a copy of a message for logs, with `…` in place of its token and its session secret."""
    match message:
        case Hello():
            token, session = ("…" if secret else "" for secret in (message.token, message.session))
            return structs.replace(message, token=token, session=session)
        case Welcome():
            return structs.replace(message, session="…")
    return message
