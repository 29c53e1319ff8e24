"""Base class of a bot, with one method to write: `choose(position, clock) -> move`.

    from arena.bots.api.bot import Bot

    class First(Bot):
        def choose(self, position, clock):
            return self.game.moves(position)[0]

Positions are immutable values. The two players are called Maxie, who moves first, and Minnie. `self.game` answers
questions about positions:

    self.game.moves(position)          the legal moves, always in the same order
    self.game.play(position, move)     the position after a move
    self.game.outcome(position)        the outcome, or None if the match is not over
    self.game.estimate(position)       a simple estimate, high when good for Maxie
    self.game.picture(position)        a drawing in lines of text

One instance plays one match. All methods of a bot run one after another in the same thread. Another thread handles the
connection and answers the server meanwhile, so the connection stays open however long a bot thinks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, Literal

from arena.games.core import Game, Player
from arena.protocol.codes import EndReason
from arena.protocol.timecontrol import TimeControl

__all__ = ["Bot", "Clock", "Ending", "Match", "ProgramCrash", "Resign", "Thinking"]


class Resign(Exception):
    """Raised by any method of a bot to resign the match. The message tells the bot's owner the reason in one line."""


class ProgramCrash(Exception):
    """Raised by a bot whose external program has failed. The message tells the bot's owner the cause in one line.

    The bot loses the match as with any other exception, but no traceback is printed, because it would not show the program.
    """


class Bot(ABC):
    """A player of one match. A subclass must define `choose`, and may define other methods, such as `prepare` or `ended`.

    An exception from any method during the match loses the match. `Resign` counts as a resignation, with a one-line reason; any
    other exception is printed with its traceback, and counts as a crash.
    """

    match: Match
    """Match being played: its game, seat, names and time control. Set before `prepare` is called."""
    thinking: Thinking | None = None
    """Analysis to send with the move; None to send none. Set it in `choose`, before which it is always None."""

    _stop_event: Event | None = None

    @property
    def game(self) -> Game[Any, Any]:
        """Return the rules of the game with this match's parameters, such as the map."""
        return self.match.game

    @property
    def seat(self) -> Player:
        """Return this bot's seat, Maxie or Minnie. Maxie prefers high values, Minnie low ones."""
        return self.match.seat

    @property
    def threads(self) -> int:
        """Return the maximum number of search threads that this bot may use in the match."""
        return self.match.threads

    @property
    def stopped(self) -> bool:
        """Return True if the move is no longer needed, for example because the match is over.

        A long search should check this property often, and end when it is True.
        """
        return self._stop_event is not None and self._stop_event.is_set()

    def prepare(self) -> None:  # noqa: B027 - an optional hook
        """Load and compile everything that the match needs. No player's clock runs until this method returns."""

    @abstractmethod
    def choose(self, position: Any, clock: Clock) -> Any:
        """Return the move to play in `position`, one of `self.game.moves(position)`."""

    def opponent_moved(self, move: Any, position: Any) -> None:  # noqa: B027
        """Handle the opponent's `move`, which led to `position`. The bot's clock is running, and `choose` is called next."""

    def ended(self, ending: Ending) -> None:  # noqa: B027
        """Handle the end of the match. Only `close` is called afterwards."""

    def close(self) -> None:  # noqa: B027
        """Release what the bot holds, such as threads. Always called last, even after an exception or without `ended`."""


def assign_match(bot: Bot, match: Match, stop_event: Event | None = None) -> None:
    """Assign `match` to `bot`, before `prepare` is called.

    The caller sets `stop_event` when no further move is needed; `bot.stopped` is then True. None means that the caller
    never stops the bot.
    """
    bot.match = match
    bot._stop_event = stop_event  # noqa: SLF001 - the other half of Bot.stopped, hidden from bot authors


def request_move(bot: Bot, position: Any, clock: Clock, stop_event: Event) -> Any:
    """Return the move that the bot chooses in `position`. First reset `bot.thinking`, the analysis of its last move, to None.

    The caller sets `stop_event` when the move is no longer needed; `bot.stopped` is then True. Any exception raised by
    the bot propagates.
    """
    bot.thinking = None
    bot._stop_event = stop_event  # noqa: SLF001 - the other half of Bot.stopped
    return bot.choose(position, clock)


_DEFAULT_TIME_CONTROL = TimeControl(1000, per_move=True)


@dataclass(frozen=True)
class Match:
    """Facts about a match that a bot knows before the first move.

    To try a bot without a server, set only `game` and `seat`.
    """

    game: Game[Any, Any]
    """Rules of the game with this match's parameters, such as the map. Methods: `moves`, `play`, `outcome` and others."""
    seat: Player
    """Seat of the bot in this match: Maxie or Minnie."""
    id: str = "local"
    """Globally unique id of the match, as in its record and the server's log; `local` without a server."""
    maxie: str = "maxie"
    """Name of the bot in Maxie's seat."""
    minnie: str = "minnie"
    """Name of the bot in Minnie's seat."""
    time_control: TimeControl = _DEFAULT_TIME_CONTROL
    """Time control of the match. Its durations are in ms."""
    margin_ms: int = 0
    """Network grace in ms, an allowance for network delays: the bot loses on time this long after its clock reaches 0."""
    threads: int = 1
    """Maximum number of search threads of the bot in this match."""

    @property
    def opponent(self) -> str:
        """Return the name of the opponent."""
        return self.minnie if self.seat is Player.MAXIE else self.maxie


SeatOutcome = Literal["won", "drawn", "lost", "void"]
"""Outcome of a match for one seat. A `void` match counts for neither player."""


@dataclass(frozen=True)
class Ending:
    """Result of a finished match, as passed to `Bot.ended`."""

    winner: Player | None
    """Player who won; None for a draw, or for a void match, which counts for neither player."""
    reason: EndReason | None
    """Reason for the end; None if the server has forgotten the match, so that its result is unknown."""
    detail: str
    """One-line detail, such as the illegal move, or the ms by which a player exceeded its time."""
    plies: int
    """Number of moves that both players together made."""
    position: Any
    """Last position of the match."""

    def outcome_for(self, seat: Player) -> SeatOutcome:
        """Return the outcome of the match for the player in `seat`."""
        if self.winner is not None:
            return "won" if self.winner is seat else "lost"
        return "void" if self.reason in (None, EndReason.SERVER_FAULT, EndReason.NO_SHOW) else "drawn"

    def __str__(self) -> str:
        if self.reason is None:
            return self.detail
        words = self.reason.value.replace("_", " ")
        has_detail = self.detail and self.detail != self.reason.meaning
        return f"{words}, {self.plies} plies" + (f": {self.detail}" if has_detail else "")


@dataclass(frozen=True, slots=True)
class Clock:
    """Clocks of both players when a turn, the server's request for a move, arrives. All times are in seconds.

    `bots.api.budget.plan` computes the time limits of a move from a Clock. A bot that computes its own limits must also
    consider `arrived` and `lag`: with `mine` alone, it will sooner or later lose on time.
    """

    mine: float
    """Time left on the bot's clock, in seconds; with a time per move, the time left for this move."""
    theirs: float = 0.0
    """Time left on the opponent's clock, in seconds."""
    increment: float = 0.0
    """Increment added to `mine` after each move, in seconds; 0 with a time per move."""
    per_move: bool = False
    """True if `mine` is for this move alone and unused time is lost."""
    margin: float = 0.0
    """Network grace, in seconds: the bot loses on time this long after its clock reaches 0. Leave it for network delays."""
    arrived: float = 0.0
    """Arrival of the request for the move, in seconds of `time.monotonic()`. The bot's clock started slightly earlier."""
    lag: float = 0.0
    """Largest lag of the last moves, in seconds: the time that the server counted for a move, minus the bot's own count."""

    def elapsed(self, now: float) -> float:
        """Return the seconds since the request for the move arrived. `now` is `time.monotonic()`."""
        return max(0.0, now - self.arrived)

    def left(self, now: float) -> float:
        """Return the seconds left on the bot's clock at `now`, at least 0. The network grace (`margin`) is not included.

        `now` is `time.monotonic()`.
        """
        return max(0.0, self.mine - self.elapsed(now))


@dataclass(frozen=True)
class Thinking:
    """Analysis that a bot sends with its move. Leave unknown fields at their defaults."""

    depth: int | None = None
    """Completed search depth, in plies."""
    value: float | None = None
    """Value of the position in the bot's own unit; high is good for Maxie."""
    nodes: int | None = None
    """Number of positions that the search visited."""
    line: Sequence[Any] = ()
    """Expected moves of both players, starting with the chosen one. Only the first 64 are sent."""
    cpu_ms: float | None = None
    """CPU time in ms that the bot has used since its last move; None if it is not measured."""
