"""Boards that a game can declare, so that the web page and the terminal can draw the game: a grid, or points and lines.

A cell is a square of a grid, or a point; cells are numbered from 0. `Game.marks(position)` gives the content of each cell,
and `Game.squares(position, move)` the cells of a move. Drawing a board needs nothing else from the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.games.basics import PlainData, Player

MAX_BOARD_CELLS = 1000
"""Maximum number of cells (squares or points) of a board."""
MAX_TEXT_BOARD_SIDE = 18
"""Maximum number of columns, and of rows, of a `Points` board drawn as text, so that lines have at most 72 characters."""
COLUMN_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Grid:
    """Board of squares, numbered row by row from 0, the square `a1`.

    Raises ValueError unless the board has 1 to 26 columns, at least one row, and at most MAX_BOARD_CELLS squares.
    """

    columns: int
    rows: int
    a1_below: bool = False
    """True if the first row is drawn at the bottom, as in chess; False for the top."""
    checkered: bool = False
    """True if every second square is drawn darker."""

    def __post_init__(self) -> None:
        if not 1 <= self.columns <= len(COLUMN_LETTERS):
            raise ValueError(f"a grid must have 1 to {len(COLUMN_LETTERS)} columns, not {self.columns}")
        if self.rows < 1:
            raise ValueError(f"a grid must have at least 1 row, not {self.rows}")
        if self.cell_count > MAX_BOARD_CELLS:
            raise ValueError(
                f"a grid must have at most {MAX_BOARD_CELLS} squares, not {self.cell_count} ({self.columns} x {self.rows})"
            )

    @property
    def cell_count(self) -> int:
        return self.columns * self.rows

    def get_cell_name(self, cell: int) -> str:
        """Return the name of a cell, such as `c4`."""
        return f"{COLUMN_LETTERS[cell % self.columns]}{cell // self.columns + 1}"

    def to_data(self) -> dict[str, PlainData]:
        """Return the board as plain data, as it is sent to the web page."""
        return {
            "kind": "grid",
            "columns": self.columns,
            "rows": self.rows,
            "a1_below": self.a1_below,
            "checkered": self.checkered,
        }

    def draw_text(self, marks: Sequence[str]) -> str:
        """Return the board as lines of text, with coordinates at its edges.

        marks  text of each cell; empty for an empty cell, which is drawn as a full stop
        """
        column_width = max(1, *(len(mark) for mark in marks))
        row_numbers = range(self.rows - 1, -1, -1) if self.a1_below else range(self.rows)
        lines = [
            f"{row + 1:2d} "
            + " ".join(
                (mark or ".").ljust(column_width)
                for mark in marks[row * self.columns : (row + 1) * self.columns]
            ).rstrip()
            for row in row_numbers
        ]
        header = (
            "   "
            + " ".join(COLUMN_LETTERS[column].ljust(column_width) for column in range(self.columns)).rstrip()
        )
        return "\n".join([*lines, header] if self.a1_below else [header, *lines])


@dataclass(frozen=True)
class Points:
    """Board of points and the lines between them, as in nine men's morris.

    Raises ValueError unless the board has 1 to MAX_BOARD_CELLS points, with different names or none, and lines that join them.
    """

    places: tuple[tuple[float, float], ...]
    """Coordinates of each point: x from left to right, y from top to bottom, in any unit."""
    lines: tuple[tuple[int, int], ...] = ()
    """Lines, each as the numbers (from 0) of the two points that it joins."""
    names: tuple[str, ...] = ()
    """Names of the points, as a person types them; empty if the points' numbers are their names."""

    def __post_init__(self) -> None:
        if not 1 <= self.cell_count <= MAX_BOARD_CELLS:
            raise ValueError(
                f"a board of points must have 1 to {MAX_BOARD_CELLS} points, not {self.cell_count}"
            )
        for line in self.lines:
            if any(not 0 <= end < self.cell_count for end in line):
                raise ValueError(f"a line must join two of the points 0 to {self.cell_count - 1}, not {line}")
        if self.names and (len(self.names) != self.cell_count or len(set(self.names)) != self.cell_count):
            raise ValueError("give all points different names, or give none of them a name")

    @property
    def cell_count(self) -> int:
        return len(self.places)

    def get_cell_name(self, cell: int) -> str:
        """Return the name of a point, or its number if the points have no names."""
        return self.names[cell] if self.names else str(cell)

    def to_data(self) -> dict[str, PlainData]:
        """Return the board as plain data, as it is sent to the web page."""
        return {
            "kind": "points",
            "places": [list(place) for place in self.places],
            "lines": [list(line) for line in self.lines],
            "names": [self.get_cell_name(cell) for cell in range(self.cell_count)],
        }

    def draw_text(self, marks: Sequence[str]) -> str:
        """Return the board as lines of text, with a mark or + at each point.

        If the board has more than MAX_TEXT_BOARD_SIDE columns or rows, list its marked points instead, one per line.
        """
        columns, rows = (sorted({place[axis] for place in self.places}) for axis in (0, 1))
        if len(columns) > MAX_TEXT_BOARD_SIDE or len(rows) > MAX_TEXT_BOARD_SIDE:
            occupied_cells = [
                f"{self.get_cell_name(cell)}: {mark}" for cell, mark in enumerate(marks) if mark
            ]
            return "\n".join(occupied_cells) or "all points are empty"
        canvas_points = [(4 * columns.index(x), 2 * rows.index(y)) for x, y in self.places]
        canvas = [[" "] * (4 * len(columns)) for _ in range(2 * len(rows) - 1)]
        for start_cell, end_cell in self.lines:
            (x, y), (to_x, to_y) = canvas_points[start_cell], canvas_points[end_cell]
            stroke = "|" if x == to_x else "-" if y == to_y else "\\" if (x < to_x) == (y < to_y) else "/"
            steps = max(abs(to_x - x), abs(to_y - y)) if y == to_y else abs(to_y - y)
            for step in range(1, steps):
                canvas[y + (to_y - y) * step // steps][x + (to_x - x) * step // steps] = stroke
        for (x, y), mark in zip(canvas_points, marks, strict=True):
            canvas[y][x : x + max(1, len(mark))] = mark or "+"
        return "\n".join("".join(row).rstrip() for row in canvas)


Board = Grid | Points

PIECE_LETTER_BY_PLAYER = {Player.MAXIE: "X", Player.MINNIE: "O"}
"""Letter that stands for each player's piece on a board drawn as text."""


def format_cell_marks(marks: Sequence[Player | str]) -> list[str]:
    """Return the marks of a board as text: a player's piece as X or O, other marks unchanged."""
    return [PIECE_LETTER_BY_PLAYER[mark] if isinstance(mark, Player) else mark for mark in marks]
