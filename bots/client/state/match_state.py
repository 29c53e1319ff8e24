"""State of one match in the client: moves, phase, clock, and last answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from arena.bots.api.bot import Clock, Match
from arena.games.core import Player
from arena.protocol.messages import Accepted, Move, Resign, Turn

MAX_LAGS = 16
"""Number of latest moves whose lag is remembered. A single slow move is forgotten after that many moves."""


class Phase(Enum):
    """Phase of a match; see `bots.client.state.machine`."""

    PREPARING = auto()
    WAITING = auto()
    CHOOSING = auto()
    RESIGNED = auto()


@dataclass
class MatchState:
    """One unfinished match of this client."""

    match: Match
    position: Any
    resign: Resign
    """Answer to every request about a resigned match."""
    phase: Phase = Phase.PREPARING
    moves: list[Any] = field(default_factory=list)
    """Plain data of the moves that led to `position`."""
    last_move: Any = None
    """Opponent's move that led to `position`; None at the start, or if the bot moves twice in a row."""
    early_turn: tuple[Turn, float] | None = None
    """Turn that arrived while the bot was preparing, and its arrival time."""
    clock: Clock = field(default_factory=lambda: Clock(0.0))
    answer: Move | None = None
    """Message with the last chosen move; None before the first."""
    answered_at: float = 0.0
    lags: deque[float] = field(default_factory=lambda: deque(maxlen=MAX_LAGS))
    is_renewed: bool = True
    """False after a lost connection, until the server mentions this match again."""
    rated: bool = False
    """True if the match counts for the ratings."""

    def catch_up(self, moves: Sequence[Any]) -> None:
        """Play the new moves, or all moves if earlier ones have changed. Raises GameError."""
        game = self.match.game
        count = len(self.moves)
        if moves[:count] != self.moves:
            self.position, count = game.start(), 0
        for data in moves[count:]:
            move, mover = game.move_from_data(data), game.player(self.position)
            self.last_move = None if mover is self.match.seat else move
            self.position = game.play(self.position, move)
        self.moves = list(moves)

    def clock_at(self, turn: Turn, arrived: float) -> Clock:
        """Return the clock for a turn that arrived at `arrived`."""
        maxie, minnie = turn.clocks.maxie_ms / 1000, turn.clocks.minnie_ms / 1000
        own_seconds, opponent_seconds = (
            (maxie, minnie) if self.match.seat is Player.MAXIE else (minnie, maxie)
        )
        return Clock(
            mine=max(0.0, own_seconds),
            theirs=max(0.0, opponent_seconds),
            increment=turn.increment_ms / 1000,
            per_move=self.match.time_control.per_move,
            margin=self.match.margin_ms / 1000,
            arrived=arrived,
            lag=max(self.lags, default=0.0),
        )

    def update_lag(self, accepted: Accepted) -> None:
        """Update the lag from the time that the server counted for the last answer."""
        if self.answer is not None and self.answer.ply == accepted.ply:
            measured_seconds = self.clock.elapsed(self.answered_at)
            self.lags.append(max(0.0, accepted.spent_ms / 1000 - measured_seconds))
