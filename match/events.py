"""What a referee is told and what it answers. Events are journaled, so each has a stable form in JSON."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from arena.games.core import Player
from arena.protocol.codes import EndReason
from arena.protocol.messages import ServerMessage
from arena.protocol.values import Data, GivingUp, Thinking

LONGEST_WHY = 200
"""Characters that are kept of why a player gave up."""


class Opened(Struct, frozen=True, tag="opened"):
    """The match is set up: both players are asked to get ready."""


class GotReady(Struct, frozen=True, tag="ready"):
    """A player is ready."""

    player: Player


class TurnLeft(Struct, frozen=True, gc=False, tag="turn_left", omit_defaults=True):
    """The turn of this ply has left the server: the mover's clock runs from now."""

    ply: int
    lag: int = 0
    """The least of the recent ping times of the mover's connection, in ns; 0 where none is known."""


class Moved(Struct, frozen=True, gc=False, tag="moved", omit_defaults=True):
    """A player's move arrived. `move` is plain data, not yet looked at."""

    player: Player
    ply: int
    move: Data
    thinking: Thinking | None = None


class Resigned(Struct, frozen=True, tag="resigned", omit_defaults=True):
    """A player gave up, or its bot has failed."""

    player: Player
    reason: GivingUp = "resignation"
    detail: str = ""
    """Why, as the bot says, or whoever watches its process; not yet looked at."""

    def why(self) -> str:
        """What follows after who it was, in printed characters: others read it in records and in terminals."""
        shown = "".join(char if char.isprintable() else "?" for char in self.detail[:LONGEST_WHY])
        return f": {shown}" if shown else ""


class Left(Struct, frozen=True, tag="left"):
    """A player's connection was lost; it may come back within the grace."""

    player: Player


class Returned(Struct, frozen=True, tag="returned"):
    """A player's connection is there again."""

    player: Player


class SessionLost(Struct, frozen=True, tag="session_lost"):
    """A fresh connection took a player's name, without its session: it knows nothing of the match."""

    player: Player


class BrokeProtocol(Struct, frozen=True, tag="broke_protocol"):
    """A player sent what is no message; its connection is closed."""

    player: Player
    detail: str


class DeadlineFell(Struct, frozen=True, tag="deadline", omit_defaults=True):
    """`next_deadline` has passed, and nothing that had arrived before is left unread."""

    server_late: int = 0
    """By how many ns the server itself was held up during the turn, as far as it knows."""


class ServerBack(Struct, frozen=True, tag="server_back"):
    """The server was away and goes on with the match: all times before mean nothing any more."""


class ServerFailed(Struct, frozen=True, tag="server_failed"):
    """The server cannot go on with this match: it is void."""

    detail: str


Event = (
    Opened
    | GotReady
    | TurnLeft
    | Moved
    | Resigned
    | Left
    | Returned
    | SessionLost
    | BrokeProtocol
    | DeadlineFell
    | ServerBack
    | ServerFailed
)

Timed = tuple[int, Event]
"""An event, and when it happened (monotonic ns)."""

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[list[Timed]] = msgspec.json.Decoder(list[Timed])


def to_journal(at: int, event: Event, turn: tuple[int, TurnLeft] | None = None) -> str:
    """An event as the journal keeps it, in JSON; after the turn that it ends, where that is not kept yet."""
    timed = (at, event)
    return _encoder.encode((timed,) if turn is None else (turn, timed)).decode()


def from_journal(text: str) -> list[Timed]:
    """The events of which `to_journal` made this text, in order. Raises msgspec.DecodeError."""
    return _decoder.decode(text)


class Tell(Struct, frozen=True, gc=False):
    """Send this message to a player, when the event that caused it is in the journal."""

    player: Player
    message: ServerMessage


class Finish(Struct, frozen=True):
    """The match is over."""

    winner: Player | None
    reason: EndReason
    detail: str


Effect = Tell | Finish
