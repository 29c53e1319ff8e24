"""Actions that the client's state machine (`ClientStateMachine`) asks the client (`bots.client.client`) to perform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from arena.bots.api.bot import Clock, Ending, Match
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import ClientMessage


@dataclass(frozen=True)
class SendMessage:
    """Message to send to the server; dropped without a connection, because the server asks again after a reconnection."""

    message: ClientMessage


@dataclass(frozen=True)
class PrepareBot:
    """Request to create a bot for this match, let it prepare, and then call `ClientStateMachine.handle_bot_prepared`."""

    match: Match


@dataclass(frozen=True)
class ChooseMove:
    """Request to let the match's bot choose a move in `position`, once the bot has handled its earlier requests.

    When the bot has chosen, the client calls `ClientStateMachine.handle_move_chosen`.
    """

    match_id: str
    ply: int
    position: Any
    clock: Clock
    opponent_move: Any
    """Opponent's move that led to `position`; None at the start, or if the bot moves twice in a row."""


@dataclass(frozen=True)
class CancelMove:
    """Request to tell the bot of a match that the move it is choosing is no longer needed."""

    match_id: str


@dataclass(frozen=True)
class EndMatch:
    """Request to tell the bot of a match the result, and to close the bot."""

    match: Match
    ending: Ending


@dataclass(frozen=True)
class WarnOwner:
    """Problem to report to the bot's owner, in one line."""

    warning_text: str


@dataclass(frozen=True)
class ReportStatus:
    """Status of the bot to report. `state`: one word, such as `playing`; `detail`: a line for the bot's owner."""

    state: str
    detail: str
    ratings_by_game: Mapping[str, float] | None = None
    """Ratings of the bot by game; None if the server sent none."""
    rating_deviations_by_game: Mapping[str, float] = field(default_factory=dict)
    """Rating deviations (standard errors) by game; empty from a server that does not send them."""
    final_table_path: str = ""
    """Path, on the server's website, of the final table of an event that has just ended; empty if none has."""


@dataclass(frozen=True)
class ScheduleChallenge:
    """Request to call `ClientStateMachine.send_challenges` after CHALLENGE_RETRY_INTERVAL_SECONDS.

    reason  why the last challenge failed
    """

    reason: str


@dataclass(frozen=True)
class Disconnect:
    """Request to close the connection, because the server has rejected this client with an error."""

    code: ErrorCode
    detail: str


ClientAction = (
    SendMessage
    | PrepareBot
    | ChooseMove
    | CancelMove
    | EndMatch
    | WarnOwner
    | ReportStatus
    | ScheduleChallenge
    | Disconnect
)
