"""What a position is truly worth: how it ends if both play as well as can be, and after how many plies.

The winner takes the shortest way, the loser the longest. There is no ply limit in a table: whoever cannot force an end
draws. Where a match has one, `within` says what it makes of a value, exactly: who wins needs all the plies of the shortest
win, because the loser can make it last so long.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

DRAWN_CODE = 0
FIRST_CODE = 2
"""The code of a position that is lost and over. 1 is no code."""


class Value(StrEnum):
    """A position's value for the player to move."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"

    @property
    def opposite(self) -> Value:
        """The same value for the other player."""
        return {Value.WIN: Value.LOSS, Value.DRAW: Value.DRAW, Value.LOSS: Value.WIN}[self]

    @property
    def sign(self) -> int:
        """1 for a win, 0 for a draw, -1 for a loss."""
        return (self is Value.WIN) - (self is Value.LOSS)


class Truth(NamedTuple):
    """The value of a position for the player to move, and the plies to the end of the match; None for a draw."""

    value: Value
    plies: int | None = None

    def within(self, plies_left: int) -> Truth:
        """What is left of it in a match that is a draw after so many more plies. Exact."""
        return self if self.plies is None or self.plies <= plies_left else DRAW

    @property
    def before(self) -> Truth:
        """What it makes the move that leads here worth to whoever plays that move."""
        return Truth(self.value.opposite, None if self.plies is None else self.plies + 1)

    @property
    def score(self) -> float:
        """Orders values as the player to move likes them: quick wins, slow ones, draws, slow losses, quick ones."""
        return 0.0 if self.plies is None else self.value.sign / (self.plies + 1)

    def __str__(self) -> str:
        if self.plies is None:
            return self.value.value
        return f"{self.value.value} in {self.plies} {'ply' if self.plies == 1 else 'plies'}"


DRAW = Truth(Value.DRAW)


def decode(code: int) -> Truth:
    """The truth that a code of a table stands for: 0 is a draw, else 2 plies + 2, and 1 more for a win."""
    if code == DRAWN_CODE:
        return DRAW
    return Truth(Value.WIN if code & 1 else Value.LOSS, (code - FIRST_CODE) // 2)
