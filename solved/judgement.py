"""What a move truly was: whether it kept what its player could have, or gave it away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    """What became of a position's value by a move."""

    KEPT = "kept"
    LOST_WIN = "lost the win"
    LOST_DRAW = "lost the draw"


@dataclass(frozen=True)
class Judged:
    """A move, judged. Truths are for its player."""

    player: Player
    move: Move
    before: Truth
    """What the position is worth with the best move."""
    after: Truth
    """What the move made it worth."""
    best: Move
    """The move played where none is better, else the first that keeps the value in the fewest plies, or holds out longest."""

    @property
    def kind(self) -> Kind:
        return _kind(self.before, self.after)

    @property
    def undecided(self) -> bool:
        """Whether the move had something to give away: the position was no loss."""
        return self.before.value is not Value.LOSS


def judge(solution: Solution, position: Armies, move: Move) -> Judged:
    """Judge a legal move in a position in play. Raises solved.header.BadTable."""
    known = solution.moves(position)
    best, before = max(known, key=lambda each: each[1].score)
    after = dict(known)[move]
    return Judged(position.player, move, before, after, move if after == before else best)


def judge_match(solution: Solution, positions: Sequence[Armies], moves: Sequence[Move]) -> Iterator[Judged]:
    """Judge the moves of a match, which led from each of the positions to the next."""
    for position, move in zip(positions, moves, strict=False):
        yield judge(solution, position, move)


def record_kinds(record: Record) -> list[tuple[Player, Kind, Truth]] | None:
    """Return for each move of a record its player, what became of the value, and the truth of the position it led to.

    None where the map has no table, or a damaged one. About 0.1 ms a move.
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
        (position.player, _kind(before, reached.before), reached)
        for position, before, reached in zip(positions, truths, truths[1:], strict=False)
    ]


def _kind(before: Truth, after: Truth) -> Kind:
    if after.value is before.value:
        return Kind.KEPT
    return Kind.LOST_WIN if before.value is Value.WIN else Kind.LOST_DRAW
