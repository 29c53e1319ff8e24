"""Rules of Connect Four, the example that docs/games.md builds step by step."""

from __future__ import annotations

from dataclasses import dataclass

from arena import MAXIE, MINNIE, Game, Grid, Outcome

COLUMNS, ROWS = 7, 6
EMPTY, DISC = ".", {MAXIE: "X", MINNIE: "O"}


def list_lines():
    """Yield all lines of four cells, as cell numbers: rows, columns and both diagonals."""
    for row in range(ROWS):
        for column in range(COLUMNS):
            for right, up in ((1, 0), (0, 1), (1, 1), (-1, 1)):
                ends = column + 3 * right, row + 3 * up
                if 0 <= ends[0] < COLUMNS and ends[1] < ROWS:
                    yield tuple(column + n * right + COLUMNS * (row + n * up) for n in range(4))


LINES = tuple(list_lines())


@dataclass(frozen=True)
class ConnectFourPosition:
    cells: str = EMPTY * COLUMNS * ROWS  # from a1 at the bottom left, row by row


class ConnectFour(Game[ConnectFourPosition, int]):
    name = "connect4"
    board = Grid(COLUMNS, ROWS, a1_below=True)

    def start(self):
        return ConnectFourPosition()

    def ply(self, position):
        return COLUMNS * ROWS - position.cells.count(EMPTY)

    def moves(self, position):
        if self.outcome(position) is not None:
            return ()
        columns = (position.cells[column::COLUMNS] for column in range(COLUMNS))
        heights = [len(column.rstrip(EMPTY)) for column in columns]
        return tuple(column + COLUMNS * height for column, height in enumerate(heights) if height < ROWS)

    def successor(self, position, move):
        cells = position.cells
        return ConnectFourPosition(cells[:move] + DISC[self.player(position)] + cells[move + 1 :])

    def outcome(self, position):
        cells = position.cells
        for a, b, c, d in LINES:
            if cells[a] != EMPTY and cells[a] == cells[b] == cells[c] == cells[d]:
                return Outcome(MAXIE if cells[a] == "X" else MINNIE, "four in a row")
        return None if EMPTY in cells else Outcome(None, "board full")

    def estimate(self, position):
        """Return a sum over all lines of four squares on which only one player has discs.

        Each line counts the square of its number of discs, with a minus sign if they are Minnie's.
        """
        lines = [[position.cells[cell] for cell in line] for line in LINES]
        return sum(
            (line.count("X") ** 2) * ("O" not in line) - (line.count("O") ** 2) * ("X" not in line)
            for line in lines
        )

    def compiled(self):
        from connect4_kernel import compile_game  # noqa: PLC0415 - it needs numba

        return compile_game(self, LINES)

    def marks(self, position):
        owner = {EMPTY: "", "X": MAXIE, "O": MINNIE}
        return [owner[cell] for cell in position.cells]
