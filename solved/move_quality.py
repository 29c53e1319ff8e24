"""Classification of moves by a solved table: whether a move keeps or gives away the result that its player could force."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from arena.games.catalogue import make_game
from arena.games.core import GameError, Player
from arena.games.riskless import Move, RisklessPosition
from arena.protocol.record import Record
from arena.solved.header import BadTable
from arena.solved.solution import Solution, load_solution
from arena.solved.solved_value import SolvedResult, SolvedValue


class MoveQuality(StrEnum):
    """Effect of a move on the result that its player can force."""

    KEPT = "kept"
    LOST_WIN = "lost the win"
    LOST_DRAW = "lost the draw"


@dataclass(frozen=True)
class ClassifiedMove:
    """Comparison of a move with the best move in the same position. Values are for the player who makes the move."""

    value_before: SolvedValue
    """Value of the position before the move, with best play, for the player who makes the move."""
    value_after: SolvedValue
    """Value of the position after the move, with best play from there, for the player who makes the move."""
    best_move: Move
    """Best move in the position: the quickest win, otherwise a draw, otherwise the slowest loss.

    If the classified move is as good as any other, it is the best move itself.
    """

    @property
    def quality(self) -> MoveQuality:
        return _classify_value_change(self.value_before, self.value_after)


def classify_move(solution: Solution, position: RisklessPosition, move: Move) -> ClassifiedMove:
    """Compare a legal move in an unfinished position with the best move.

    Raises solved.header.BadTable if the table's file is damaged.
    """
    values = solution.list_move_values(position)
    best_move, value_before = max(values, key=lambda move_and_value: move_and_value[1].sort_key)
    value_after = dict(values)[move]
    return ClassifiedMove(value_before, value_after, move if value_after == value_before else best_move)


def classify_moves_of_record(record: Record) -> list[tuple[Player, MoveQuality, SolvedValue]] | None:
    """Return, for each move of a record, its player, its quality, and the value of the position after the move.

    The value is for the player who is to move in that position. Return None if the map has no table or a damaged one, if the game is
    unknown, or if a move is illegal. Takes about 0.1 ms per move.
    """
    try:
        solution = load_solution(make_game(record.game, record.setup))
        if solution is None:
            return None
        game = solution.game
        positions = [game.start()]
        for move in record.moves:
            positions.append(game.play(positions[-1], game.move_from_data(move.move)))
        values = [solution.probe_position(position) for position in positions]
    except (BadTable, GameError):
        return None
    return [
        (position.player, _classify_value_change(before, reached.value_before_move), reached)
        for position, before, reached in zip(positions, values, values[1:], strict=False)
    ]


def _classify_value_change(before: SolvedValue, after: SolvedValue) -> MoveQuality:
    if after.result is before.result:
        return MoveQuality.KEPT
    return MoveQuality.LOST_WIN if before.result is SolvedResult.WIN else MoveQuality.LOST_DRAW
