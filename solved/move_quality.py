"""Judgement of a move by the solved table: it keeps the player's best result or gives it away."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from arena.games.catalogue import make_game
from arena.games.core import GameError, Player
from arena.games.riskless import Armies, Move
from arena.protocol.record import Record
from arena.solved.header import BadTable
from arena.solved.solution import Solution, solution_of
from arena.solved.truth import Truth, Value


class Kind(StrEnum):
    """Effect of a move on the value of the position."""

    KEPT = "kept"
    LOST_WIN = "lost the win"
    LOST_DRAW = "lost the draw"


@dataclass(frozen=True)
class ClassifiedMove:
    """A judged move. Values are for its player."""

    player: Player
    move: Move
    before: Truth
    """Value of the position with the best move."""
    after: Truth
    """Value after the move."""
    best: Move
    """The played move if no other is better, or else a best move: quickest win, draw, or slowest loss."""

    @property
    def kind(self) -> Kind:
        return _kind(self.before, self.after)


def judge(solution: Solution, position: Armies, move: Move) -> ClassifiedMove:
    """Classify a legal move in a non-terminal position by its game-theoretic value. Raises solved.header.BadTable."""
    truths = solution.moves(position)
    best, before = max(truths, key=lambda each: each[1].score)
    after = dict(truths)[move]
    return ClassifiedMove(position.player, move, before, after, move if after == before else best)


def record_kinds(record: Record) -> list[tuple[Player, Kind, Truth]] | None:
    """Return for each move of a record its player, its kind, and the value of the position after it.

    None if the map has no table, or a damaged one. Takes about 0.1 ms per move.
    """
    try:
        solution = solution_of(make_game(record.game, record.setup))
        if solution is None:
            return None
        game = solution.game
        positions = [game.start()]
        for each in record.moves:
            positions.append(game.play(positions[-1], game.move_from_data(each.move)))
        truths = [solution.truth(position) for position in positions]
    except (BadTable, GameError):
        return None
    return [
        (position.player, _kind(before, reached.previous), reached)
        for position, before, reached in zip(positions, truths, truths[1:], strict=False)
    ]


def _kind(before: Truth, after: Truth) -> Kind:
    if after.value is before.value:
        return Kind.KEPT
    return Kind.LOST_WIN if before.value is Value.WIN else Kind.LOST_DRAW
