"""What the client's state machine asks of whoever drives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.bots.api.clock import Clock
from arena.bots.api.match import Ending, Match
from arena.protocol.codes import Code
from arena.protocol.messages import ClientMessage


@dataclass(frozen=True)
class Send:
    """Send this, if a connection is there; if none is, drop it: the server asks again on return."""

    message: ClientMessage


@dataclass(frozen=True)
class Prepare:
    """Make a bot for this match and let it prepare; then tell `Machine.prepared`."""

    match: Match


@dataclass(frozen=True)
class Choose:
    """Let the match's bot choose, then tell `Machine.chose`. Ask it after what it was asked before."""

    match: str
    ply: int
    position: Any
    clock: Clock
    reply_to: Any
    """The opponent's move that led here; None at the start."""


@dataclass(frozen=True)
class Stop:
    """Nobody waits any more for the move that the match's bot is choosing."""

    match: str


@dataclass(frozen=True)
class Finish:
    """The match is over: tell its bot, and let it go."""

    match: Match
    ending: Ending


@dataclass(frozen=True)
class Complain:
    """Something went wrong that its owner should read: one line."""

    text: str


@dataclass(frozen=True)
class Stand:
    """The server says how the bot stands with its matchmaker: `state` as PROTOCOL.md has it, `detail` for its owner."""

    state: str
    detail: str


@dataclass(frozen=True)
class Again:
    """A challenge came to nothing; `why` is one line. Call `Machine.challenge` after a pause."""

    why: str


@dataclass(frozen=True)
class Leave:
    """The server wants this client no more."""

    code: Code
    detail: str


Action = Send | Prepare | Choose | Stop | Finish | Complain | Stand | Again | Leave
