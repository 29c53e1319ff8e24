"""Events that a referee handles, and effects that it returns.

The journal of a match stores its events as JSON, so their JSON form must not change.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct, field

from arena.games.core import Player
from arena.protocol.codes import EndReason
from arena.protocol.messages import ServerMessage
from arena.protocol.values import PlainData, ResignReason, Thinking

MAX_RESIGNATION_DETAIL_LENGTH = 200
"""Maximum number of characters of `PlayerResigned.detail` that a record shows."""


class MatchOpened(Struct, frozen=True, tag="opened"):
    """The match is set up, and both players are asked to get ready."""


class PlayerReady(Struct, frozen=True, tag="ready"):
    """A player is ready to begin the match."""

    player: Player


class TurnStarted(Struct, frozen=True, gc=False, tag="turn_left", omit_defaults=True):
    """The server has sent `turn`, the request for this ply's move, for the first time or again; the mover's clock runs."""

    ply: int
    lag_ns: int = field(name="lag", default=0)
    """Smallest recent ping time of the mover's connection, in ns; 0 if unknown."""
    clock_ran_ns: int = field(name="ran", default=0)
    """Time, in ns, for which the clock has already run for this move; 0 if the server sends `turn` for the first time.

    The server sends `turn` again, for example, to a bot that has reconnected.
    """


class MoveReceived(Struct, frozen=True, gc=False, tag="moved", omit_defaults=True):
    """A player's move has arrived. `move` is plain data, not yet checked."""

    player: Player
    ply: int
    move: PlainData
    thinking: Thinking | None = None


class PlayerResigned(Struct, frozen=True, tag="resigned", omit_defaults=True):
    """A player resigned, or its bot crashed."""

    player: Player
    reason: ResignReason = "resignation"
    detail: str = ""
    """Explanation given by the bot or by its process manager, unchecked."""

    def make_detail_suffix(self) -> str:
        """Return `: DETAIL` in printable characters, to append to "NAME resigned"; empty if there is no detail."""
        printable = "".join(
            char if char.isprintable() else "?" for char in self.detail[:MAX_RESIGNATION_DETAIL_LENGTH]
        )
        return f": {printable}" if printable else ""


class PlayerDisconnected(Struct, frozen=True, tag="left"):
    """A player lost its connection, and may reconnect within the grace period."""

    player: Player


class PlayerReconnected(Struct, frozen=True, tag="returned"):
    """A player has reconnected with its old session, so its process still knows the match."""

    player: Player


class SessionLost(Struct, frozen=True, tag="session_lost", omit_defaults=True):
    """A player connected without its old session: a new process, which does not know the match yet."""

    player: Player
    is_authenticated: bool = field(name="proved", default=False)
    """True if a token proves that the new process is the same bot."""


class ProtocolViolated(Struct, frozen=True, tag="broke_protocol"):
    """A player sent an invalid message, and its connection was closed."""

    player: Player
    detail: str


class DeadlinePassed(Struct, frozen=True, tag="deadline", omit_defaults=True):
    """The referee's `next_deadline_ns` has passed, and all messages that arrived earlier have been read."""

    server_stall_ns: int = field(name="server_late", default=0)
    """Time in which the server itself did not run during the turn (stall), in ns, as far as known."""


class ServerRecovered(Struct, frozen=True, tag="server_back"):
    """The server continues the match after it was down. Times measured before the outage are invalid."""


class ServerFailed(Struct, frozen=True, tag="server_failed"):
    """The server cannot continue this match, which becomes void: it counts for neither player."""

    detail: str


RefereeEvent = (
    MatchOpened
    | PlayerReady
    | TurnStarted
    | MoveReceived
    | PlayerResigned
    | PlayerDisconnected
    | PlayerReconnected
    | SessionLost
    | ProtocolViolated
    | DeadlinePassed
    | ServerRecovered
    | ServerFailed
)

TimedEvent = tuple[int, RefereeEvent]
"""An event with its time: (monotonic ns, event)."""

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[list[TimedEvent]] = msgspec.json.Decoder(list[TimedEvent])


def encode_journal_row(
    time_ns: int, event: RefereeEvent, unstored_turn: tuple[int, TurnStarted] | None = None
) -> str:
    """Return an event at the time `time_ns` (monotonic) as JSON for the journal.

    unstored_turn  start of the current turn, with its time, if the journal lacks it; written before the event
    """
    timed_event = (time_ns, event)
    return _encoder.encode((timed_event,) if unstored_turn is None else (unstored_turn, timed_event)).decode()


def decode_journal_row(row_json: str) -> list[TimedEvent]:
    """Return the events in a string from `encode_journal_row`, in order. Raises msgspec.DecodeError for any other string."""
    return _decoder.decode(row_json)


class NotifyPlayer(Struct, frozen=True, gc=False):
    """Message to a player, sent once the event that caused it is stored in the journal."""

    player: Player
    message: ServerMessage


class MatchResult(Struct, frozen=True):
    """Result of a match, returned by the referee when the match ends. `winner` is None for a draw and for a void match."""

    winner: Player | None
    reason: EndReason
    detail: str
    """Explanation of the end in one line, for people."""


RefereeEffect = NotifyPlayer | MatchResult
