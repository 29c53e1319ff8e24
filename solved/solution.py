"""A game with its truth: what each position of a match is worth, and each move in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.games.core import Game, Player
from arena.games.riskless import Armies, Move, Riskless
from arena.solved.boards import boards_of, seen_by_mover
from arena.solved.folders import open_table
from arena.solved.table import Table
from arena.solved.truth import DRAW, Truth, Value


@dataclass(frozen=True)
class Solution:
    """A game of Riskless whose map is solved. Values take the ply limit of the map into account."""

    game: Riskless
    table: Table

    def truth(self, position: Armies) -> Truth:
        """What a position is worth to the player to move. Raises solved.header.BadTable where the file is damaged."""
        outcome = self.game.outcome(position)
        if outcome is not None:
            if outcome.winner is None:
                return DRAW
            return Truth(Value.WIN if outcome.winner is position.player else Value.LOSS, 0)
        return self.table.probe(seen_by_mover(position)).within(self.game.map.ply_limit - position.ply)

    def moves(self, position: Armies) -> list[tuple[Move, Truth]]:
        """Each move with what it makes the position worth to its player, in move order."""
        game = self.game
        return [(move, self.truth(game.successor(position, move)).before) for move in game.moves(position)]

    def best(self, position: Armies) -> tuple[Truth, list[Move]]:
        """The moves that are as good as the best, in move order, and what they make the position worth to its player.

        They win in the fewest plies, draw, or lose in the most. Raises solved.header.BadTable.
        """
        known = self.moves(position)
        most = max(truth.score for _, truth in known)
        equals = [(move, truth) for move, truth in known if truth.score == most]
        return equals[0][1], [move for move, _ in equals]

    def winner(self, position: Armies) -> Player | None:
        """Who wins with best play; None: nobody."""
        value = self.truth(position).value
        if value is Value.DRAW:
            return None
        return position.player if value is Value.WIN else position.player.opponent


def solution_of(game: Game[Any, Any]) -> Solution | None:
    """The truth of a game, where there is a table of its map. Raises solved.header.BadTable for a file that is not whole."""
    boards = boards_of(game)
    table = open_table(boards) if boards is not None else None
    return Solution(game, table) if table is not None and isinstance(game, Riskless) else None
