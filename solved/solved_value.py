"""Solved value of a position: the result with best play, and the number of plies to the end.

With best play the winner takes the shortest way to the end, and the loser makes it last as long as possible. Tables
assume no ply limit: a position in which neither player can force a win is a draw. `with_ply_limit` converts a value
exactly for a match with a ply limit: a win that takes more plies than are left becomes a draw.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

DRAWN_VALUE_CODE = 0
"""Code (encoded value in a solved table) of a drawn position."""
FINISHED_LOSS_VALUE_CODE = 2
"""Code (encoded value in a solved table) of a finished position that is lost for the player to move.

The codes of all other positions are higher, except DRAWN_VALUE_CODE.
"""


class SolvedResult(StrEnum):
    """Result of a position with best play, for the player to move."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"

    @property
    def opposite(self) -> SolvedResult:
        """Return the result of the same position for the other player."""
        return {
            SolvedResult.WIN: SolvedResult.LOSS,
            SolvedResult.DRAW: SolvedResult.DRAW,
            SolvedResult.LOSS: SolvedResult.WIN,
        }[self]

    @property
    def sign(self) -> int:
        """Return the sign of the result: 1 for a win, 0 for a draw, -1 for a loss."""
        return (self is SolvedResult.WIN) - (self is SolvedResult.LOSS)


class SolvedValue(NamedTuple):
    """Value of a position for the player to move. `plies` is the number of plies to the end; None for a draw."""

    result: SolvedResult
    plies: int | None = None

    def with_ply_limit(self, plies_left: int) -> SolvedValue:
        """Return the value in a match that is a draw after `plies_left` more plies: a longer win or loss becomes a draw."""
        return self if self.plies is None or self.plies <= plies_left else DRAWN_VALUE

    @property
    def value_before_move(self) -> SolvedValue:
        """Return the value before the move that leads to this position, for the player who makes that move.

        The result is the opposite one, and takes one ply more.
        """
        return SolvedValue(self.result.opposite, None if self.plies is None else self.plies + 1)

    @property
    def sort_key(self) -> float:
        """Return the sort key, which is highest for the best value.

        From best to worst, the values are quick wins, slow wins, draws, slow losses, quick losses.
        """
        return 0.0 if self.plies is None else self.result.sign / (self.plies + 1)

    def __str__(self) -> str:
        if self.plies is None:
            return self.result.value
        return f"{self.result.value} in {self.plies} {'ply' if self.plies == 1 else 'plies'}"


DRAWN_VALUE = SolvedValue(SolvedResult.DRAW)


def decode_value_code(code: int) -> SolvedValue:
    """Return the value for a code in a table: 0 is a draw, otherwise 2 × plies + 2, plus 1 for a win."""
    if code == DRAWN_VALUE_CODE:
        return DRAWN_VALUE
    return SolvedValue(
        SolvedResult.WIN if code & 1 else SolvedResult.LOSS, (code - FINISHED_LOSS_VALUE_CODE) // 2
    )
