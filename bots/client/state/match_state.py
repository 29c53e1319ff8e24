"""What the client's state machine knows of one match: the moves, the phase, the clock, and the last answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from arena.bots.api.clock import Clock
from arena.bots.api.match import Match
from arena.games.core import Player
from arena.protocol.messages import Accepted, Move, Resign, Turn

LAGS_KEPT = 16
"""Moves whose lag is remembered: one spike is forgotten within half a match."""


class Phase(Enum):
    """Where a match stands; see `bots.client.state.machine`."""

    PREPARING = auto()
    WAITING = auto()
    CHOOSING = auto()
    RESIGNED = auto()


@dataclass
class MatchState:
    """One match of this client that is not over."""

    match: Match
    position: Any
    resign: Resign
    """What is said of the match once it is given up, as often as the server asks."""
    phase: Phase = Phase.PREPARING
    moves: list[Any] = field(default_factory=list)
    """The plain data of the moves that led to `position`."""
    last_move: Any = None
    early: tuple[Turn, float] | None = None
    """A turn that came while the bot was preparing, and when."""
    clock: Clock = field(default_factory=lambda: Clock(0.0))
    answer: Move | None = None
    """The last move that was chosen."""
    answered_at: float = 0.0
    lags: deque[float] = field(default_factory=lambda: deque(maxlen=LAGS_KEPT))
    renewed: bool = True
    """False from a lost connection until the server speaks of this match again."""

    def catch_up(self, moves: Sequence[Any]) -> None:
        """Play what is new; from the start, if what was known has changed. Raises GameError."""
        game = self.match.game
        known = len(self.moves)
        if moves[:known] != self.moves:
            self.position, known = game.start(), 0
        for data in moves[known:]:
            self.last_move = game.move_from_data(data)
            self.position = game.play(self.position, self.last_move)
        self.moves = list(moves)

    def clock_at(self, turn: Turn, arrived: float) -> Clock:
        """The clock for a turn that arrived at `arrived`."""
        maxie, minnie = turn.clocks.maxie_ms / 1000, turn.clocks.minnie_ms / 1000
        mine, theirs = (maxie, minnie) if self.match.seat is Player.MAXIE else (minnie, maxie)
        return Clock(
            mine=max(0.0, mine),
            theirs=max(0.0, theirs),
            increment=turn.increment_ms / 1000,
            per_move=self.match.time_control.per_move,
            margin=self.match.margin_ms / 1000,
            arrived=arrived,
            lag=max(self.lags, default=0.0),
        )

    def accepted(self, accepted: Accepted) -> None:
        """Learn from the time that the server counted for the last answer."""
        if self.answer is not None and self.answer.ply == accepted.ply:
            took = self.clock.elapsed(self.answered_at)
            self.lags.append(max(0.0, accepted.spent_ms / 1000 - took))
