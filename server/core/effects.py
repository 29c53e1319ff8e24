"""Effects of the core: requests and messages that the shell (the core's I/O) carries out.

The shell first commits the durable effects (`DURABLE_EFFECTS`) of a batch to the store. Then it carries out the effects
for clients, and after them all others, both in the order of the batch.
"""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct, field

from arena.match.referee_events import RefereeEvent, TurnStarted
from arena.match.terms import MatchTerms
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import EventPhase, ServerMessage
from arena.protocol.record import Record, Result
from arena.protocol.values import Players
from arena.server.core.event_state import EventState

LOBBY_LISTING_TOPIC = "listing"
"""Topic of the messages that update the listing (matches, bots, challenges and events) of all clients that sent `browse`.

Any other topic is the id of a match: its followers get the moves of the match.
"""


class SendToClient(Struct, frozen=True, gc=False, tag="send"):
    """Message from the server to one client."""

    client_number: int = field(name="client")
    message: ServerMessage
    clock_ran_ns: int = 0
    """For a `Turn` (request for a move) that is sent again: time that the mover has already used, in ns; otherwise 0.

    The edge (process that holds connections) adds this time to the time from sending the turn to receiving the move.
    """


class CloseClient(Struct, frozen=True, tag="close"):
    """Request to send a client an `error` message, and then to close its connection."""

    client_number: int = field(name="client")
    error_code: ErrorCode = field(name="code")
    detail: str


class PublishToTopic(Struct, frozen=True, gc=False, tag="publish"):
    """Message to all followers of a topic (a match, or the listing). Each edge (holder of connections) in `edge_numbers` gets a copy.

    A client follows a match from the `view` message that the client gets first, until the client sends `unwatch` or the match's
    `end` is published. A client follows the listing from its first `browse` on.
    """

    topic_name: str = field(name="topic")
    message: ServerMessage
    edge_numbers: tuple[int, ...] = field(name="edges")
    """Numbers of the edges (processes that hold connections) that have followers of the topic."""


class SendMissedResult(Struct, frozen=True):
    """Request to send a bot the `end` of a stored match, or the error `no_such_match` if the bot did not play that match."""

    client_number: int
    bot_name: str
    match_id: str


class SaveNewMatch(Struct, frozen=True):
    """Request to store a match that begins: its terms (players, game, time controls) and its start time."""

    terms: MatchTerms
    start_time_utc: str
    """Start time in UTC, in ISO 8601."""


class AppendMatchEvent(Struct, frozen=True, gc=False):
    """Request to append an event of a match, such as a move, to the journal (stored events of all matches in progress)."""

    match_id: str
    event_number: int
    """Number of the event in the match, from 1."""
    time_ns: int
    """Time of the event, in monotonic ns."""
    event: RefereeEvent
    turn_start: tuple[int, TurnStarted] | None
    """Start of the mover's clock, with its time (monotonic ns), to append before `event`, as event number `event_number` - 1.

    None if the journal (stored events) already has it, or if no clock is running.
    """


class SaveFinishedMatch(Struct, frozen=True):
    """Request to mark a match as finished in the store, with its record.

    Once the record is stored, the server updates the ratings, for example, and returns the record to the caller that
    requested the match.
    """

    record: Record
    is_rated: bool
    """True if the result counts for the ratings."""


class SaveSession(Struct, frozen=True):
    """Request to store the hash of the secret of a bot's new session."""

    bot_name: str
    secret_hash: bytes


class DeleteSession(Struct, frozen=True):
    """Request to delete the hash of the secret of a bot's session from the store."""

    bot_name: str


class SaveEvent(Struct, frozen=True):
    """Request to store the state of an event (a tournament), without its results, because finished matches hold them."""

    state: EventState


class StoredRequestAnswered(Struct, frozen=True):
    """One-line answer to a request of the server's operator or of a bot's owner. The answer is stored, and then sent."""

    request_number: int = field(name="number")
    """Number of the answered request (`NumberedStoredRequest`)."""
    answer: str
    succeeded: bool = field(name="done")
    """True if the request was carried out; False if it was refused."""


class EventStarted(Struct, frozen=True, tag_field="type", tag="event_begins"):
    """News that an event (a tournament) has begun. `bot_names` are its players, highest rating first."""

    format_name: str = field(name="format")
    game_name: str = field(name="game")
    bot_names: tuple[str, ...] = field(name="bots")


class RoundPaired(Struct, frozen=True, tag_field="type", tag="round_paired"):
    """News that the pairs of bots in a round of an event (a tournament) are known."""

    round_number: int = field(name="round")
    """Number of the round, from 1."""
    round_count: int = field(name="rounds")
    """Number of rounds of the event."""
    bot_pairs: tuple[tuple[str, str], ...] = field(name="pairs")
    """Names of the two bots of each pair that meet in this round."""


class EventMatchFinished(Struct, frozen=True, tag_field="type", tag="match_over"):
    """News that a match of an event (a tournament) has finished."""

    match_id: str = field(name="match")
    players: Players
    result: Result


class FinalEventRank(Struct, frozen=True):
    """Final rank and points of a bot in an event (a tournament)."""

    bot_name: str = field(name="bot")
    rank: int
    """Rank from 1. Bots with equal results share a rank."""
    points: float


class EventFinished(Struct, frozen=True, tag_field="type", tag="event_over"):
    """News that an event (a tournament) has ended or was cancelled."""

    event_phase: EventPhase = field(name="state")
    final_ranks: tuple[FinalEventRank, ...] = field(name="places")
    """Final ranks of the bots, best first."""


class EventNews(Struct, frozen=True):
    """News of an event (a tournament), for the webhook that the server's operator has set up."""

    event_name: str
    content: EventStarted | RoundPaired | EventMatchFinished | EventFinished


class StartHouseEngine(Struct, frozen=True):
    """Request to start one of the server's own engines, unless it is running."""

    engine_name: str


class LogLine(Struct, frozen=True):
    """Line for the server's log. `bot_name` and `match_id` name the bot and the match that the line concerns; empty if none."""

    level: Literal["info", "warning", "error"]
    text: str
    bot_name: str = ""
    match_id: str = ""


class AnalysisTrimmed(Struct, frozen=True):
    """News, for the metrics, that invalid or too many moves were removed from a bot's main line (expected further moves)."""

    removed_move_count: int


DurableEffect = (
    SaveNewMatch
    | AppendMatchEvent
    | SaveFinishedMatch
    | SaveSession
    | DeleteSession
    | SaveEvent
    | StoredRequestAnswered
)
"""Effects that the shell (the core's I/O) commits to the store, before it carries out the other effects of the batch."""
Effect = (
    DurableEffect
    | SendToClient
    | CloseClient
    | PublishToTopic
    | SendMissedResult
    | EventNews
    | StartHouseEngine
    | LogLine
    | AnalysisTrimmed
)
DURABLE_EFFECTS: tuple[type, ...] = get_args(DurableEffect)
