"""Solved value of a position: the result under best play, and the number of plies to it.

The winner takes the shortest way, the loser the longest. Tables have no ply limit: a player who cannot force an end
draws. If a match has a ply limit, `within` converts a value exactly: the winner needs all plies of the shortest
win, because the loser can make it last that long.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

DRAWN_CODE = 0
FIRST_CODE = 2
"""Code of a finished, lost position. The code 1 is not used."""


class Value(StrEnum):
    """Result of a position for the player to move."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"

    @property
    def opposite(self) -> Value:
        """Return the same result for the other player."""
        return {Value.WIN: Value.LOSS, Value.DRAW: Value.DRAW, Value.LOSS: Value.WIN}[self]

    @property
    def sign(self) -> int:
        """Return 1 for a win, 0 for a draw, -1 for a loss."""
        return (self is Value.WIN) - (self is Value.LOSS)


class Truth(NamedTuple):
    """Value of a position for the player to move, and the plies to the end of the match; None for a draw."""

    value: Value
    plies: int | None = None

    def with_plies_left(self, plies_left: int) -> Truth:
        """Return the value in a match that is drawn after this many more plies. Exact."""
        return self if self.plies is None or self.plies <= plies_left else DRAW

    @property
    def previous(self) -> Truth:
        """Return the value of the move that leads here, for the player of that move."""
        return Truth(self.value.opposite, None if self.plies is None else self.plies + 1)

    @property
    def score(self) -> float:
        """Sort key of values as the player to move prefers them: quick wins, slow wins, draws, slow losses, quick
        losses.
        """
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
