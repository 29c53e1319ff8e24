"""Tic-tac-toe (noughts and crosses). Maxie plays X and moves first, Minnie plays O.

Cells are numbered 0 to 8 row by row from the top left. People type a column letter and a row number, from `a1` at the
top left (cell 0) and `b1` to its right (cell 1) to `c3`, or the cell number itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.games.boards import Grid
from arena.games.core import BadData, Game, Outcome, Player, RuleEndReason, require_integer

WINNING_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
"""The eight lines of three cells, by cell number."""

MARK_BY_PLAYER = {Player.MAXIE: "X", Player.MINNIE: "O"}
"""Character of each player's marks in `TicTacToePosition.cells`."""
PLAYER_BY_MARK = {mark: player for player, mark in MARK_BY_PLAYER.items()}
EMPTY_CELL = "."


@dataclass(frozen=True, slots=True)
class TicTacToePosition:
    """A position: nine characters, row by row, each X, O, or `.` for an empty cell."""

    cells: str = EMPTY_CELL * 9


class TicTacToe(Game[TicTacToePosition, int]):
    """Rules of tic-tac-toe. Three in a line win; a full board without such a line is a draw. A move is a cell number."""

    name = "tictactoe"
    title = "Tic-tac-toe"
    board = Grid(3, 3)

    def start(self) -> TicTacToePosition:
        return TicTacToePosition()

    def ply(self, position: TicTacToePosition) -> int:
        return 9 - position.cells.count(EMPTY_CELL)

    def expected_plies(self, position: TicTacToePosition) -> float:
        return float(position.cells.count(EMPTY_CELL))

    def moves(self, position: TicTacToePosition) -> Sequence[int]:
        if self.outcome(position) is not None:
            return ()
        return tuple(cell for cell, mark in enumerate(position.cells) if mark == EMPTY_CELL)

    def successor(self, position: TicTacToePosition, move: int) -> TicTacToePosition:
        cells = position.cells
        return TicTacToePosition(cells[:move] + MARK_BY_PLAYER[self.player(position)] + cells[move + 1 :])

    def outcome(self, position: TicTacToePosition) -> Outcome | None:
        cells = position.cells
        for a, b, c in WINNING_LINES:
            if cells[a] != EMPTY_CELL and cells[a] == cells[b] == cells[c]:
                return Outcome(PLAYER_BY_MARK[cells[a]], RuleEndReason.LINE)
        return None if EMPTY_CELL in cells else Outcome(None, RuleEndReason.BOARD_FULL)

    def estimate(self, position: TicTacToePosition) -> int:
        """Return the number of lines still open to Maxie minus the number still open to Minnie.

        A line is open to a player if it has no mark of the opponent. The estimate is from source 003 in docs/search.md.
        """
        lines = ["".join(position.cells[cell] for cell in line) for line in WINNING_LINES]
        return sum("O" not in line for line in lines) - sum("X" not in line for line in lines)

    def broken_rule(self, position: TicTacToePosition, move: int) -> str | None:
        if not 0 <= move <= 8:
            return "there is no such cell"
        if position.cells[move] != EMPTY_CELL:
            return f"{self.move_to_text(move)} is taken by {position.cells[move]}"
        return None

    def move_from_data(self, data: object) -> int:
        return require_integer(data, "a move of tictactoe", 0, 8)

    def move_from_text(self, text: str) -> int:
        cell_name = text.strip().lower()
        if len(cell_name) == 1 and cell_name in "012345678":
            return int(cell_name)
        if len(cell_name) == 2 and cell_name[0] in "abc" and cell_name[1] in "123":
            return "abc".index(cell_name[0]) + 3 * "123".index(cell_name[1])
        raise BadData(f"{text.strip()!r:.40} is not a cell: type a1 to c3 (a1 is the top left) or 0 to 8")

    def position_from_data(self, data: object) -> TicTacToePosition:
        if not isinstance(data, Mapping) or not isinstance(data.get("cells"), str):
            raise BadData(
                "a position of tictactoe must be an object whose key `cells` has a string of nine X, O or '.'"
            )
        return self.position_from_text(data["cells"])

    def position_to_text(self, position: TicTacToePosition) -> str:
        return position.cells

    def position_from_text(self, text: str) -> TicTacToePosition:
        cells = text.strip().upper().replace("/", "")
        if len(cells) != 9 or set(cells) - set("XO."):
            raise BadData(
                f"{text.strip()!r:.40} is not a board: write three rows of X, O and '.', separated by '/', e.g. X.O/.X./..O"
            )
        if cells.count("X") - cells.count("O") not in (0, 1):
            raise BadData(f"{cells} cannot be reached: X moves first and the players take turns")
        board = TicTacToePosition(cells)
        complete_lines = [
            line
            for line in WINNING_LINES
            if cells[line[0]] != EMPTY_CELL and len({cells[c] for c in line}) == 1
        ]
        last_mark = MARK_BY_PLAYER[self.player(board).opponent]
        if any(cells[line[0]] != last_mark for line in complete_lines):
            raise BadData(f"{cells} cannot be reached: the match was over before the last move")
        return board

    def marks(self, position: TicTacToePosition) -> Sequence[Player | str]:
        return [PLAYER_BY_MARK.get(cell, "") for cell in position.cells]

    def picture(self, position: TicTacToePosition) -> str:
        rows = [" ".join(position.cells[3 * row : 3 * row + 3]) for row in range(3)]
        return "\n".join(["  a b c", *(f"{n} {row}" for n, row in enumerate(rows, 1))])
