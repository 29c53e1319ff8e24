"""Values with moves: the bounds and results of alpha-beta as in a course's homework (source 001 in docs/search.md).

The homework, in Standard ML, has two kinds of values: a Step has the move that leads to the value, a Leaf has no move.
Here both are a MoveValue; the move of a Leaf is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.bots.search.search_values import INFINITY


@dataclass(frozen=True, slots=True)
class MoveValue:
    """Value for Maxie, and the move that leads to it. `move` is None at a leaf, and for a bound that no move has reached."""

    value: int
    move: Any = None

    @property
    def has_move(self) -> bool:
        """Return True if the value has a move (the homework's Step); False if it has none (Leaf)."""
        return self.move is not None


NO_ALPHA = MoveValue(-INFINITY)
"""Initial alpha of a search: no value is guaranteed to Maxie yet. A trace shows NO_ALPHA as `Minnie wins!`."""
NO_BETA = MoveValue(INFINITY)
"""Initial beta of a search: no value is guaranteed to Minnie yet. A trace shows NO_BETA as `Maxie wins!`."""


def max_alpha(old: MoveValue, new: MoveValue) -> MoveValue:
    """Return the greater of two bounds. If they are equal, return `old`, unless only `new` has a move."""
    if new.value == old.value:
        return new if new.has_move and not old.has_move else old
    return new if new.value > old.value else old


def min_beta(old: MoveValue, new: MoveValue) -> MoveValue:
    """Return the smaller of two bounds. If they are equal, return `old`, unless only `new` has a move."""
    if new.value == old.value:
        return new if new.has_move and not old.has_move else old
    return new if new.value < old.value else old
