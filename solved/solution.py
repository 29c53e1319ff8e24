"""Solution of a game on a solved map: the exact value of each position and of each move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.games.core import Game
from arena.games.riskless import Move, Riskless, RisklessPosition
from arena.solved.board_numbers import find_board_numbering, make_board_for_mover
from arena.solved.folders import open_table
from arena.solved.header import BadTable
from arena.solved.solved_table import SolvedTable
from arena.solved.solved_value import DRAWN_VALUE, SolvedResult, SolvedValue


@dataclass(frozen=True)
class Solution:
    """Exact values of positions and moves of a Riskless game on a solved map, looked up in the map's table.

    The values take the map's ply limit into account.
    """

    game: Riskless
    table: SolvedTable

    def probe_position(self, position: RisklessPosition) -> SolvedValue:
        """Return the value of a position for the player to move. Raises solved.header.BadTable for a damaged file."""
        outcome = self.game.outcome(position)
        if outcome is not None:
            if outcome.winner is None:
                return DRAWN_VALUE
            return SolvedValue(
                SolvedResult.WIN if outcome.winner is position.player else SolvedResult.LOSS, 0
            )
        return self.table.probe_board(make_board_for_mover(position)).with_ply_limit(
            self.game.map.ply_limit - position.ply
        )

    def list_move_values(self, position: RisklessPosition) -> list[tuple[Move, SolvedValue]]:
        """Return the legal moves, in the order of `Game.moves`, each with its value for the player to move.

        Raises solved.header.BadTable for a damaged file.
        """
        game = self.game
        return [
            (move, self.probe_position(game.successor(position, move)).value_before_move)
            for move in game.moves(position)
        ]

    def find_best_moves(self, position: RisklessPosition) -> tuple[SolvedValue, list[Move]]:
        """Return the value of a position for the player to move, and the best moves, in the order of `Game.moves`.

        The best moves win in the fewest plies. If no move wins, they draw; if no move draws, they lose in the most plies.
        The position must be unfinished. Raises solved.header.BadTable for a damaged file.
        """
        values = self.list_move_values(position)
        best_key = max(value.sort_key for _, value in values)
        best_moves = [(move, value) for move, value in values if value.sort_key == best_key]
        return best_moves[0][1], [move for move, _ in best_moves]


def load_solution(game: Game[Any, Any]) -> Solution | None:
    """Return the solution of a game, or None if its map has no table. Raises solved.header.BadTable for a damaged file."""
    numbering = find_board_numbering(game)
    table = open_table(numbering) if numbering is not None else None
    return Solution(game, table) if table is not None and isinstance(game, Riskless) else None


def explain_missing_solution(game: Game[Any, Any]) -> str:
    """Return why this machine has no solution of a game, in one line; an empty text if it has one."""
    try:
        if load_solution(game) is not None:
            return ""
    except BadTable as error:
        return str(error)
    name = game.setup().get("map")
    if name is None:
        return f"only Riskless maps have solved tables, and this game is {game.name}"
    return (
        f"there is no solved table of {name}; create it with `arena solve {name}`, if the map is small enough"
    )
