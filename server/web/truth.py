"""What the moves of a finished match truly were, for the page, where its map is solved."""

from __future__ import annotations

from msgspec import Struct

from arena.games.catalogue import make_game
from arena.games.core import GameError
from arena.protocol.record import BadRecord, from_line
from arena.solved.header import BadTable
from arena.solved.judgement import Kind, kinds
from arena.solved.solution import solution_of


class Truly(Struct, frozen=True):
    """One move: what became of the value of its position, and what that is now for the player to move."""

    kind: Kind
    now: str
    """The value in words, as in `win in 5 plies`."""


def truth_of(line: str) -> list[Truly] | None:
    """The moves of a record, one after another; None where its map has no table, or one that is damaged.

    About 0.2 ms a move: for a thread.
    """
    try:
        record = from_line(line)
        solution = solution_of(make_game(record.game, record.setup))
        if solution is None:
            return None
        game = solution.game
        positions = [game.start()]
        for each in record.moves:
            positions.append(game.play(positions[-1], game.move_from_data(each.move)))
        told = kinds(solution, positions)
        reached = (str(solution.truth(position)) for position in positions[1:])
        return [Truly(kind, now) for (_, kind), now in zip(told, reached, strict=True)]
    except (BadRecord, BadTable, GameError):
        return None
