"""Solved value of a position: the result with best play, and the number of plies to the end.

With best play the winner takes the shortest way to the end, and the loser makes it last as long as possible. Tables
assume no ply limit: a position in which neither player can force a win is a draw. `with_plies_left` converts a value
exactly for a match with a ply limit: a win that takes more plies than are left becomes a draw.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

DRAWN_CODE = 0
FIRST_CODE = 2
"""Code of a finished board that is lost for the player to move. Code 1 is not used."""


class Value(StrEnum):
    """Result of a position with best play, for the player to move."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"

    @property
    def opposite(self) -> Value:
        """Return the result for the other player."""
        return {Value.WIN: Value.LOSS, Value.DRAW: Value.DRAW, Value.LOSS: Value.WIN}[self]

    @property
    def sign(self) -> int:
        """Return 1 for a win, 0 for a draw, -1 for a loss."""
        return (self is Value.WIN) - (self is Value.LOSS)


class Truth(NamedTuple):
    """Value of a position for the player to move. `plies` is the number of plies to the end; None for a draw."""

    value: Value
    plies: int | None = None

    def with_plies_left(self, plies_left: int) -> Truth:
        """Return the exact value in a match that is drawn after `plies_left` more plies."""
        return self if self.plies is None or self.plies <= plies_left else DRAW

    @property
    def previous(self) -> Truth:
        """Return the value of a move that leads to a position of this value, for the player of the move."""
        return Truth(self.value.opposite, None if self.plies is None else self.plies + 1)

    @property
    def score(self) -> float:
        """Sort key, the highest for the best value: quick wins, slow wins, draws, slow losses, quick losses."""
        return 0.0 if self.plies is None else self.value.sign / (self.plies + 1)

    def __str__(self) -> str:
        if self.plies is None:
            return self.value.value
        return f"{self.value.value} in {self.plies} {'ply' if self.plies == 1 else 'plies'}"


DRAW = Truth(Value.DRAW)


def decode(code: int) -> Truth:
    """Return the value for a code in a table: 0 is a draw, otherwise 2 × plies + 2, plus 1 for a win."""
    if code == DRAWN_CODE:
        return DRAW
    return Truth(Value.WIN if code & 1 else Value.LOSS, (code - FIRST_CODE) // 2)
