"""State of one match in the client: its moves, phase and clock, and the bot's last answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from arena.bots.api.bot import Clock, Match
from arena.games.core import Player
from arena.protocol.messages import Accepted, Move, Resign, Turn
from arena.protocol.values import Clocks

MAX_REMEMBERED_LAGS = 16
"""Number of recent moves whose lags (`MatchState.record_lag`) are remembered. An unusual lag is forgotten afterwards."""


def make_clock(
    match: Match, clocks: Clocks, increment_ms: float, arrival_time: float, lag_seconds: float = 0.0
) -> Clock:
    """Return the clock that a bot gets with the server's message `turn`, the request for a move in `match`.

    clocks        times left to both players when the server sent `turn`
    increment_ms  time added to the bot's clock after its move
    arrival_time  time at which `turn` arrived, in seconds of `time.monotonic()`
    lag_seconds   lag of recent moves in seconds, as in `Clock.lag`
    """
    own_ms, opponent_ms = clocks.maxie_ms, clocks.minnie_ms
    if match.seat is Player.MINNIE:
        own_ms, opponent_ms = opponent_ms, own_ms
    return Clock(
        mine=max(0, own_ms) / 1000,
        theirs=max(0, opponent_ms) / 1000,
        increment=increment_ms / 1000,
        per_move=match.time_control.per_move,
        margin=match.margin_ms / 1000,
        arrived=arrival_time,
        lag=lag_seconds,
    )


class MatchPhase(Enum):
    """Phase of an unfinished match in the client. `bots.client.state.machine` shows the transitions."""

    PREPARING = auto()
    """The bot is being created and prepares."""
    WAITING = auto()
    """The bot is ready, and waits for the server's request for a move."""
    CHOOSING = auto()
    """The bot chooses a move."""
    RESIGNED = auto()
    """The client has resigned, and waits for the server to end the match."""


@dataclass
class MatchState:
    """One unfinished match of this client."""

    match: Match
    position: Any
    resign_message: Resign
    """Message that resigns the match. Once sent, it also answers each further `start` and `turn`, in case it was lost."""
    phase: MatchPhase = MatchPhase.PREPARING
    moves: list[Any] = field(default_factory=list)
    """Moves that led to `position`, in the form that messages carry (numbers, strings and lists)."""
    opponent_move: Any = None
    """Opponent's move that led to `position`; None at the start, or if the bot moves twice in a row."""
    early_turn_and_arrival_time: tuple[Turn, float] | None = None
    """Request for a move that arrived while the bot was preparing, and its arrival time (monotonic s); None if none did."""
    clock: Clock = field(default_factory=lambda: Clock(0.0))
    """Both players' clocks at the arrival of the last request for a move (`turn`)."""
    move_message: Move | None = None
    """Message with the bot's last chosen move; None before its first."""
    move_chosen_at: float = 0.0
    """Time at which the bot chose the move in `move_message`, in seconds of `time.monotonic()`."""
    recent_lags_seconds: deque[float] = field(default_factory=lambda: deque(maxlen=MAX_REMEMBERED_LAGS))
    """Lags (network delays) of the last moves in seconds, as `record_lag` defines them."""
    is_confirmed_by_server: bool = True
    """True if the server has mentioned the match on the current connection; if False, the match may be over by now."""
    is_rated: bool = False
    """True if the match counts for the ratings."""

    def replay_missed_moves(self, moves: Sequence[Any]) -> None:
        """Bring the position up to date with `moves`, all moves of the match in the form that messages carry.

        Only the moves after the known ones are played. If the known moves are not the first of `moves`, all are played from
        the start. Raises GameError for an invalid move.
        """
        game = self.match.game
        count = len(self.moves)
        if moves[:count] != self.moves:
            self.position, count = game.start(), 0
        for data in moves[count:]:
            move, mover = game.move_from_data(data), game.player(self.position)
            self.opponent_move = None if mover is self.match.seat else move
            self.position = game.play(self.position, move)
        self.moves = list(moves)

    def make_clock(self, turn: Turn, arrival_time: float) -> Clock:
        """Return the bot's clock for the move that `turn` requests. `arrival_time`: arrival of `turn` (`time.monotonic()`)."""
        return make_clock(
            self.match,
            turn.clocks,
            turn.increment_ms,
            arrival_time,
            lag_seconds=max(self.recent_lags_seconds, default=0.0),
        )

    def record_lag(self, accepted: Accepted) -> None:
        """Record the lag of the bot's last move: the time that the server counted minus the time that the bot used.

        accepted  server's confirmation of a move, with the time counted; ignored if it belongs to another move
        """
        if self.move_message is not None and self.move_message.ply == accepted.ply:
            measured_seconds = self.clock.elapsed(self.move_chosen_at)
            self.recent_lags_seconds.append(max(0.0, accepted.spent_ms / 1000 - measured_seconds))
