"""Effects of the core: requests and messages that the shell (the core's I/O) carries out.

The shell commits durable effects (`DURABLE_EFFECTS`) to the store before it releases any other effect of the same
batch. Then it releases the effects for clients, and after them all others, both in the order of the batch.
"""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from arena.match.referee_events import RefereeEvent, TurnStarted
from arena.match.terms import MatchTerms
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import EventPhase, ServerMessage
from arena.protocol.record import Record, Result
from arena.protocol.values import Players
from arena.server.core.event_state import EventState

LISTING_TOPIC = "listing"
"""Topic of the listing, which all browsing clients follow. Any other topic is the id of a match."""


class SendToClient(Struct, frozen=True, gc=False, tag="send"):
    """Message from the server to one client."""

    client: int
    message: ServerMessage
    clock_ran_ns: int = 0
    """Time for which the clock of a `Turn` has already run, in ns; 0 for other messages.

    The edge adds the time that it measures itself.
    """


class CloseClient(Struct, frozen=True, tag="close"):
    """Fatal `error` message to a client, whose connection is then closed."""

    client: int
    code: ErrorCode
    detail: str


class PublishToTopic(Struct, frozen=True, gc=False, tag="publish"):
    """Message to all followers of a topic. Each edge (process that holds connections) in `edges` gets one copy.

    A client follows a match from its `view` until it sends `unwatch` or the match's `end` is published. A client
    follows the listing from its first `browse` on.
    """

    topic: str
    message: ServerMessage
    edges: tuple[int, ...]
    """Numbers of the edges that have followers of the topic."""


class SendMissedResult(Struct, frozen=True):
    """Request to send a bot the `end` of a stored match, or the error `no_such_match` if the bot did not play that match."""

    client: int
    name: str
    match: str


class OpenMatch(Struct, frozen=True):
    """Request to store a match that begins: its terms and its start time."""

    terms: MatchTerms
    started: str
    """Start time in UTC, in ISO 8601."""


class AppendMatchEvent(Struct, frozen=True, gc=False):
    """Request to append an event of a match, such as a move, to the journal."""

    match: str
    seq: int
    """Number of the event in the match, from 1."""
    at: int
    """Time of the event, in monotonic ns."""
    event: RefereeEvent
    turn: tuple[int, TurnStarted] | None
    """Start of the current turn, with its time in ns, to append before `event`, as event number `seq` - 1.

    None if the journal already has it, or if no clock is running.
    """


class CloseMatch(Struct, frozen=True):
    """Request to close a finished match in the store, with its record.

    Once the record is stored, other parts of the server react to this effect: for example, the ratings are updated, and
    the caller that requested the match gets the record.
    """

    record: Record
    rated: bool
    """True if the result counts for the ratings."""


class SaveSession(Struct, frozen=True):
    """Request to store the hash of the secret of a bot's new session."""

    name: str
    hash: bytes


class DeleteSession(Struct, frozen=True):
    """Request to delete the hash of the secret of a bot's session from the store."""

    name: str


class SaveEvent(Struct, frozen=True):
    """Request to store the current state of an event, without its results."""

    state: EventState


class CommandAnswered(Struct, frozen=True):
    """One-line answer to a command of the host. It is stored, and then sent to the sender of the command."""

    number: int
    """Number of the command (`HostCommand`) that this answers."""
    answer: str
    done: bool
    """False if the command was refused."""


class EventStarted(Struct, frozen=True, tag_field="type", tag="event_begins"):
    """News that an event has begun. `bots` are its players, highest rating first."""

    format: str
    game: str
    bots: tuple[str, ...]


class RoundPaired(Struct, frozen=True, tag_field="type", tag="round_paired"):
    """News that a round of an event has been paired."""

    round: int
    """Number of the round, from 1."""
    rounds: int
    """Number of rounds of the event."""
    pairs: tuple[tuple[str, str], ...]
    """Pairs of bots that meet in this round, by name."""


class EventMatchFinished(Struct, frozen=True, tag_field="type", tag="match_over"):
    """News that a match of an event has finished."""

    match: str
    players: Players
    result: Result


class FinalEventRank(Struct, frozen=True):
    """Final rank and points of a bot in an event."""

    bot: str
    rank: int
    """Rank from 1. Bots with equal results share a rank."""
    points: float


class EventFinished(Struct, frozen=True, tag_field="type", tag="event_over"):
    """News that an event has ended or was cancelled."""

    state: EventPhase
    places: tuple[FinalEventRank, ...]
    """Final ranks of the bots, best first."""


class EventNews(Struct, frozen=True):
    """News of an event, for the webhook that the host has set up."""

    event: str
    content: EventStarted | RoundPaired | EventMatchFinished | EventFinished


class StartHouseEngine(Struct, frozen=True):
    """Request to start one of the server's own engines, unless it is running."""

    name: str


class LogLine(Struct, frozen=True):
    """Line for the server's log. `bot` and `match` name the bot and the match that the line concerns; empty if none."""

    level: Literal["info", "warning", "error"]
    text: str
    bot: str = ""
    match: str = ""


class AnalysisLinesCut(Struct, frozen=True):
    """Number of moves that were cut from a bot's analysis because its lines of play were too long; for the metrics."""

    move_count: int


DurableEffect = (
    OpenMatch | AppendMatchEvent | CloseMatch | SaveSession | DeleteSession | SaveEvent | CommandAnswered
)
"""Effects that the shell commits to the store before it releases any other effect."""
Effect = (
    DurableEffect
    | SendToClient
    | CloseClient
    | PublishToTopic
    | SendMissedResult
    | EventNews
    | StartHouseEngine
    | LogLine
    | AnalysisLinesCut
)
DURABLE_EFFECTS: tuple[type, ...] = get_args(DurableEffect)
