"""Inputs of the core, the state machine that pairs bots and decides matches.

The inputs are messages from clients and from edges (processes that hold connections), commands of the server's
operator, and deadlines.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from arena.match.referee_events import TimedEvent
from arena.match.terms import MatchTerms
from arena.protocol.messages import ClientMessage, Hello
from arena.protocol.record import Record
from arena.protocol.values import Role
from arena.rating.glicko import GlickoRating
from arena.server.core.event_state import EventPlan, StoredEvent
from arena.server.core.settings import CoreSettings

EDGE_NUMBER_SHIFT_BITS = 40
"""Number of low bits of a client's number that distinguish the clients of one edge. The higher bits number the edge.

An edge is the part of the server, often a process of its own, that holds connections.
"""


def get_edge_number(client_number: int) -> int:
    """Return the number of the edge (process that holds connections) to which this client is connected."""
    return client_number >> EDGE_NUMBER_SHIFT_BITS


class ClientAdmitted(Struct, frozen=True, omit_defaults=True):
    """Admission of a client, whose `hello` message has been authenticated."""

    client_number: int = field(name="client")
    """Number of the client's connection, never reused. Its high bits are the number of the edge that holds the connection."""
    hello: Hello
    address: str
    owner: str
    """Owner of the bot's token; without an owner, the bot's address (its /64 network for IPv6).

    The matchmaker gives matches to the owners in rotation.
    """
    session_secret: str = field(name="secret")
    """Secret for a new session. The bot gets it, unless its `hello` message resumes an earlier session."""
    role: Role = "bot"
    """Role that the token grants; without a token, the role that the client requests."""
    is_guest: bool = field(name="guest", default=False)
    """True for a guest: a client with a name such as `guest-12` and no token."""
    is_owner_an_address: bool = field(name="is_owner_address", default=False)
    """True if `owner` is an address, not a name. Bots that share only an address may play rated matches with each other."""
    runs_on_server_machine: bool = field(name="local", default=False)
    """True for a bot that runs on the server's own machine."""
    stored_session_hash: bytes = field(name="stored_session", default=b"")
    """Hash of the bot's session secret in the store; empty if the store has none."""
    ratings: dict[str, GlickoRating] = {}
    """Ratings of the bot, by game."""


class MessageReceived(Struct, frozen=True, gc=False, tag="said", omit_defaults=True):
    """Message that arrived from a client."""

    client_number: int = field(name="client")
    message: ClientMessage
    arrived_ns: int = field(name="at")
    """Time at which the message reached the edge or, if the edge is another process, the core; in ns of the core's clock."""
    elapsed_ns: int | None = None
    """Time from sending a `turn` message to the arrival of the move that answers it, in ns, measured by the edge.

    For a turn that was sent again, the time includes the time that its clock had run before (`SendToClient.clock_ran_ns`).
    Stalls, in which the edge (process that holds connections) could do no work, are left out. None for other messages, and for
    a move that answers no turn known to the edge.
    """


class ClientDisconnected(Struct, frozen=True, tag="gone", omit_defaults=True):
    """Report that a client's connection has ended. A bot may return within `CoreSettings.reconnect_grace_ms`."""

    client_number: int = field(name="client")
    fault: str | None = None
    """Protocol violation for which the connection was closed; None if there was none."""


class TurnSent(Struct, frozen=True, gc=False, tag="turn_sent", omit_defaults=True):
    """Report by an edge (holder of connections) that it has written a `turn` message (request for a move) to a client."""

    client_number: int = field(name="client")
    match_id: str = field(name="match")
    ply: int
    sent_ns: int = field(name="at")
    """Time at which the `turn` was written or, if the edge is another process, this report arrived; in ns of the core's clock.

    The mover's clock runs from then on.
    """
    min_round_trip_ns: int = field(name="lag", default=0)
    """Shortest recent round-trip time of a ping on the connection, in ns; 0 if unknown."""


class Tick(Struct, frozen=True):
    """Signal to the server's core that a deadline may have passed. The core has handled all earlier inputs."""

    stalled_ns: int = 0
    """Time just before the tick for which the server itself was stalled (could do no work), in ns."""


class MatchRequested(Struct, frozen=True):
    """Request from outside the core to play a match of an event, for example of a ladder (tournament) in another process.

    The match begins once both bots have capacity for another match. A bot that is disconnected may connect later.
    """

    terms: MatchTerms


class MatchRequestWithdrawn(Struct, frozen=True):
    """Withdrawal of the request for a match. A match that has begun continues."""

    match_id: str


class MatchPlayedElsewhere(Struct, frozen=True):
    """Match that was played or decided (as a walkover) outside the server's core, to be stored with its record."""

    terms: MatchTerms
    record: Record


class BotCrashed(Struct, frozen=True):
    """Crash of a bot whose process this server manages.

    The bot loses its matches. The server's own engines are restarted instead, and lose no matches by a crash.
    """

    bot_name: str
    crash_description: str
    """Description of the crash, for the records of the bot's matches."""


class HouseEngineFailed(Struct, frozen=True):
    """Report that one of the server's own engines (a house engine) is not started again: it cannot run, or fails too often."""

    engine_name: str


class StartDraining(Struct, frozen=True):
    """Order to begin no more matches, because the server is about to stop."""


class ApplySettings(Struct, frozen=True):
    """New settings of the server's core.

    Matches in progress keep their old settings. The server's own engines stay the same.
    """

    settings: CoreSettings


class UnfinishedMatch(Struct, frozen=True):
    """Match that has not ended: its terms (players, game, clocks), start time and events (such as moves), as stored."""

    terms: MatchTerms
    start_time_utc: str
    match_events: list[TimedEvent]


class RestoredState(Struct, frozen=True):
    """Matches, sessions and events of an earlier core, for a new core to continue. It is the first input of each core."""

    unfinished_matches: list[UnfinishedMatch]
    session_secret_hashes: dict[str, bytes] = {}
    """Hash of the session secret of each bot that plays in `unfinished_matches`, by the bot's name."""
    recent_match_ids: dict[str, list[str]] = {}
    """Ids of matches that ended shortly before the restart, by bot name. The bot may not have received their results."""
    unfinished_events: list[StoredEvent] = []
    """Events (tournaments) of this server that have not ended."""


class AnnounceTournament(Struct, frozen=True, tag="announce"):
    """Request to announce an event (tournament). From then on, bots may enter the event."""

    plan: EventPlan


TournamentAction = Literal["pause", "resume", "cancel", "stop", "enter", "withdraw"]
"""Action on an event (tournament). `enter` and `withdraw` concern one bot. `stop` cancels the next event of a series and ends the series."""


class ChangeTournament(Struct, frozen=True, tag="steer"):
    """Request to change an announced event (tournament)."""

    event_name: str = field(name="event")
    """Name of the event (tournament), or of its series."""
    action: TournamentAction = field(name="to")
    bot_name: str = field(name="bot", default="")
    """Name of the bot to enter or withdraw; empty for other actions."""
    ratings: dict[str, float] = {}
    """Stored ratings of the bot to enter, by game. They are used if the core does not know the bot."""


class RenameTournamentEntry(Struct, frozen=True, tag="rename"):
    """Request to rename a bot in all events (tournaments) that have not begun."""

    old_name: str = field(name="bot")
    new_name: str = field(name="other")
    """New name of the bot; empty to remove the bot from the events."""


class FindConnectedClient(Struct, frozen=True, tag="find"):
    """Query whether a client called `client_name` is connected. If so, the answer has `succeeded` set to True."""

    client_name: str = field(name="name")


StoredRequest = AnnounceTournament | ChangeTournament | RenameTournamentEntry | FindConnectedClient


class NumberedStoredRequest(Struct, frozen=True):
    """Request of an `arena` command or of an owner's web page. The core answers it with `effects.StoredRequestAnswered`."""

    request_number: int
    """Number of the request, which the answer repeats."""
    request: StoredRequest


class StoreRecovered(Struct, frozen=True):
    """End of an outage of the store, in which players got no messages.

    In each match, the clock of the current move restarts.
    """


class EdgeDisconnected(Struct, frozen=True):
    """Loss of an edge (process that holds connections), and of the connections of all its clients."""

    edge_number: int


class EdgeResynced(Struct, frozen=True, tag="edge_here"):
    """Message from an edge (process that holds connections) with the list of all its clients.

    The edge sends this message to each new core (process that runs the matches), and after messages between edge and core
    were lost. Then the edge repeats the `watch` and `browse` messages of its clients.
    """

    edge_number: int = field(name="edge")
    clients: list[ClientAdmitted]
    """Clients connected to the edge (holder of connections), each with the secret of its current session in `hello.session`."""


class RatingChanged(Struct, frozen=True):
    """New rating of a bot in a game."""

    game: str
    bot_name: str
    """Name of the bot."""
    rating: GlickoRating


class SeasonClosed(Struct, frozen=True):
    """End of a season of a game. In the next season no bot has a rating yet."""

    game: str


class BotOwnerFound(Struct, frozen=True):
    """Owner of a bot's token, looked up after an edge has listed the bot among its clients (`EdgeResynced`)."""

    bot_name: str
    owner_name: str


Input = (
    ClientAdmitted
    | MessageReceived
    | ClientDisconnected
    | TurnSent
    | Tick
    | MatchRequested
    | MatchRequestWithdrawn
    | MatchPlayedElsewhere
    | BotCrashed
    | HouseEngineFailed
    | StartDraining
    | ApplySettings
    | RestoredState
    | StoreRecovered
    | EdgeDisconnected
    | EdgeResynced
    | RatingChanged
    | SeasonClosed
    | BotOwnerFound
    | NumberedStoredRequest
)
