"""The boards that a game can declare, so that a page and a terminal can draw it: a grid, or points and lines.

Cells are numbered from 0. What lies on each is `Game.marks(position)`, and the cells that a move is about are
`Game.squares(position, move)`; with these two a board needs no other knowledge of the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.games.basics import Plain, Player

MOST_CELLS = 1000
"""Cells of a board, at the most."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Grid:
    """Squares in rows, numbered row by row from `a1`. Raises ValueError for more than 26 columns or 1,000 squares."""

    columns: int
    rows: int
    a1_below: bool = False
    """Whether the first row is drawn at the bottom, as in chess; else it is drawn at the top."""
    checkered: bool = False
    """Whether every second square is drawn darker."""

    def __post_init__(self) -> None:
        if not 1 <= self.columns <= len(LETTERS) or not self.rows >= 1 or self.cells > MOST_CELLS:
            raise ValueError(
                f"a grid has 1 to 26 columns and at most {MOST_CELLS} squares, not {self.columns} x {self.rows}"
            )

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.columns * self.rows

    def name_of(self, cell: int) -> str:
        """The name of a cell, as in `c4`."""
        return f"{LETTERS[cell % self.columns]}{cell // self.columns + 1}"

    def to_data(self) -> dict[str, Plain]:
        """The board as a page is told it."""
        return {
            "kind": "grid",
            "columns": self.columns,
            "rows": self.rows,
            "a1_below": self.a1_below,
            "checkered": self.checkered,
        }

    def drawn(self, marks: Sequence[str]) -> str:
        """The board in lines of text, with a mark for each cell."""
        wide = max(1, *(len(mark) for mark in marks))
        numbers = range(self.rows - 1, -1, -1) if self.a1_below else range(self.rows)
        lines = [
            f"{row + 1:2d} "
            + " ".join(
                (mark or ".").ljust(wide) for mark in marks[row * self.columns : (row + 1) * self.columns]
            ).rstrip()
            for row in numbers
        ]
        head = "   " + " ".join(LETTERS[column].ljust(wide) for column in range(self.columns)).rstrip()
        return "\n".join([*lines, head] if self.a1_below else [head, *lines])


@dataclass(frozen=True)
class Points:
    """Points and the lines between them, as of nine men's morris. Raises ValueError where they do not fit together."""

    places: tuple[tuple[float, float], ...]
    """Where each point is drawn: x from left to right, y from top to bottom, in any unit."""
    lines: tuple[tuple[int, int], ...] = ()
    """The pairs of points that a line joins."""
    names: tuple[str, ...] = ()
    """The points' names, as a person types them; none: their numbers."""

    def __post_init__(self) -> None:
        if not 1 <= self.cells <= MOST_CELLS:
            raise ValueError(f"a board has 1 to {MOST_CELLS} points, not {self.cells}")
        if any(not 0 <= end < self.cells for line in self.lines for end in line):
            raise ValueError(f"a line joins two of the points 0 to {self.cells - 1}")
        if self.names and (len(self.names) != self.cells or len(set(self.names)) != self.cells):
            raise ValueError("each point has a name of its own, or none has")

    @property
    def cells(self) -> int:
        """How many points there are."""
        return len(self.places)

    def name_of(self, cell: int) -> str:
        """The name of a point, or its number where points have no names."""
        return self.names[cell] if self.names else str(cell)

    def to_data(self) -> dict[str, Plain]:
        """The board as a page is told it."""
        return {
            "kind": "points",
            "places": [list(place) for place in self.places],
            "lines": [list(line) for line in self.lines],
            "names": [self.name_of(cell) for cell in range(self.cells)],
        }

    def drawn(self, marks: Sequence[str]) -> str:
        """What lies on each point, a line for each that is not empty."""
        lies = [f"{self.name_of(cell)}: {mark}" for cell, mark in enumerate(marks) if mark]
        return "\n".join(lies) or "all points are empty"


Board = Grid | Points

LETTER_OF = {Player.MAXIE: "X", Player.MINNIE: "O"}
"""How a player's piece is written where a board is drawn in letters."""


def written(marks: Sequence[Player | str]) -> list[str]:
    """The marks of a board as text: a player's piece as X or O, all else as it is."""
    return [LETTER_OF[mark] if isinstance(mark, Player) else mark for mark in marks]
