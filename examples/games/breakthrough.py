"""Breakthrough (Dan Troyka, 2000): pawns move straight or diagonally ahead; the first player to reach the far row wins.

This example shows two things that the example Connect Four in docs/games.md does not need: moves from square to square,
and a setup (the parameters of a match), which contains the size of the board.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from arena import MAXIE, MINNIE, BadData, Game, Grid, Outcome, Player

EMPTY = "."
PAWN = {MAXIE: "W", MINNIE: "B"}


@dataclass(frozen=True)
class BreakthroughPosition:
    squares: str  # from a1 row by row; Maxie's pawns start in the first two rows and walk up
    ply: int


class Breakthrough(Game[BreakthroughPosition, tuple[int, int]]):
    """Rules of Breakthrough. A move is (source, target) as square numbers.

    Moves are listed in the order of their sources; for each source, the move to the left, straight ahead, to the right.
    """

    name = "breakthrough"

    def __init__(self, columns: int = 8, rows: int = 8) -> None:
        self.columns, self.rows = columns, rows

    @classmethod
    def from_setup(cls, setup):
        size = {"columns": 8, "rows": 8} | dict(setup)
        is_valid = all(isinstance(side, int) and 5 <= side <= 12 for side in size.values())
        if len(size) > 2 or not is_valid:
            raise BadData(
                f"the setup of breakthrough must be columns and rows, each from 5 to 12, not {setup!r:.60}"
            )
        return cls(size["columns"], size["rows"])

    def setup(self):
        return {"columns": self.columns, "rows": self.rows}

    @cached_property
    def board(self):
        return Grid(self.columns, self.rows, a1_below=True, checkered=True)

    def start(self):
        two = 2 * self.columns
        return BreakthroughPosition("W" * two + EMPTY * (self.columns * self.rows - 2 * two) + "B" * two, 0)

    def moves(self, position):
        return () if self.outcome(position) else tuple(self._pawn_moves(position))

    def _pawn_moves(self, position):
        player = self.player(position)
        own, squares = PAWN[player], position.squares
        for source, pawn in enumerate(squares):
            ahead = source + player.sign * self.columns
            if pawn != own or not 0 <= ahead < len(squares):
                continue
            column = source % self.columns
            for side in (-1, 0, 1):
                if 0 <= column + side < self.columns:
                    target = squares[ahead + side]
                    # A pawn takes diagonally, but not straight ahead.
                    if target == EMPTY or (side and target != own):
                        yield (source, ahead + side)

    def successor(self, position, move):
        source, target = move
        squares = list(position.squares)
        squares[target], squares[source] = squares[source], EMPTY
        return BreakthroughPosition("".join(squares), position.ply + 1)

    def outcome(self, position):
        squares = position.squares
        if "W" in squares[-self.columns :] or "B" not in squares:
            return Outcome(MAXIE, "breakthrough" if "B" in squares else "all taken")
        if "B" in squares[: self.columns] or "W" not in squares:
            return Outcome(MINNIE, "breakthrough" if "W" in squares else "all taken")
        return None

    def estimate(self, position):
        """Return the worth of Maxie's pawns minus the worth of Minnie's. A pawn that has advanced n rows is worth 10 + n²."""
        worth = 0
        for square, pawn in enumerate(position.squares):
            row = square // self.columns
            if pawn == "W":
                worth += 10 + row * row
            elif pawn == "B":
                worth -= 10 + (self.rows - 1 - row) ** 2
        return worth

    def marks(self, position):
        owner: dict[str, Player | str] = {EMPTY: "", "W": MAXIE, "B": MINNIE}
        return [owner[each] for each in position.squares]
