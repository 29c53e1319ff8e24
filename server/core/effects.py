"""Effects of the core, in order. The durable ones are committed before any other effect of the same batch leaves."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from arena.match.events import Event, TurnLeft
from arena.match.terms import Terms
from arena.protocol.codes import Code
from arena.protocol.messages import ServerMessage
from arena.protocol.record import Record

LISTING = "listing"
"""Topic of all who browse. Any other topic is the id of a match."""


class Send(Struct, frozen=True, gc=False, tag="send"):
    """Send a message to a client."""

    client: int
    message: ServerMessage
    ran: int = 0
    """Of a turn: ns for which its clock has run already. The edge measures on from there."""


class Close(Struct, frozen=True, tag="close"):
    """Send a fatal `error` to a client and close its connection."""

    client: int
    code: Code
    detail: str


class Publish(Struct, frozen=True, gc=False, tag="publish"):
    """Send a message to all followers of a topic, one copy to each of these edges.

    A client follows a match from its `view` on, until it says `unwatch` or the match's `end` was published; it follows
    the listing from its first `browse` on.
    """

    topic: str
    message: ServerMessage
    edges: tuple[int, ...]


class TellEnd(Struct, frozen=True, tag="tell_end"):
    """Look a match up in the store, and send the bot its `end`; `no_such_match` where it did not play it."""

    client: int
    name: str
    match: str


class OpenMatch(Struct, frozen=True, tag="open_match"):
    """Durable: a match begins."""

    terms: Terms
    started: str


class Append(Struct, frozen=True, gc=False, tag="append"):
    """Durable: event number `seq` of a match, and as number `seq` - 1 the turn that it ends."""

    match: str
    seq: int
    at: int
    event: Event
    turn: tuple[int, TurnLeft] | None


class CloseMatch(Struct, frozen=True, tag="close_match"):
    """Durable: the record of a match that is over."""

    record: Record
    rated: bool


class KeepSession(Struct, frozen=True, tag="keep_session"):
    """Durable: the hash of the secret of a bot's new session."""

    name: str
    hash: bytes


class ForgetSession(Struct, frozen=True, tag="forget_session"):
    """Durable: a bot's session is over."""

    name: str


class MatchOver(Struct, frozen=True, tag="match_over"):
    """A match is over: for ratings, events, and supervisors of house engines."""

    record: Record


class PlayRefused(Struct, frozen=True, tag="play_refused"):
    """The match of a `Play` does not begin."""

    match: str
    why: str


class WantBot(Struct, frozen=True, tag="want_bot"):
    """Start a house engine, unless it runs."""

    name: str


class Report(Struct, frozen=True, tag="report"):
    """Log a line."""

    level: Literal["info", "warning", "error"]
    text: str
    bot: str = ""
    match: str = ""


class Count(Struct, frozen=True, tag="count"):
    """Add to a metric."""

    what: Literal["lines_cut"]
    by: int


Effect = (
    Send
    | Close
    | Publish
    | TellEnd
    | OpenMatch
    | Append
    | CloseMatch
    | KeepSession
    | ForgetSession
    | MatchOver
    | PlayRefused
    | WantBot
    | Report
    | Count
)
DURABLE = (OpenMatch, Append, CloseMatch, KeepSession, ForgetSession)
"""Effects that the shell commits before it releases the others."""
