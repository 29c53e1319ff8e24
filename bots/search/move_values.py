"""Bounds and results of the course's alpha-beta (source 001 in docs/search.md, section 5.4).

The course's datatype `value` is either a Step, with the move that leads to the value, or a Leaf, without
a move. Here both are a MoveValue; a Leaf's move is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.bots.search.search_values import INFINITY


@dataclass(frozen=True, slots=True)
class MoveValue:
    """Value for Maxie, with the move that leads to it; `move` is None for a Leaf."""

    value: int
    move: Any = None

    @property
    def is_step(self) -> bool:
        """Return True for a Step, which has a move."""
        return self.move is not None


def step(move: object, value: int) -> MoveValue:
    """Return a value with the move that leads to it: Step(move, value) in source 001 (docs/search.md)."""
    return MoveValue(value, move)


def leaf(value: int) -> MoveValue:
    """Return a value without a move: Leaf(value) in source 001 (docs/search.md)."""
    return MoveValue(value)


NO_ALPHA = leaf(-INFINITY)
"""Initial alpha, printed as "Minnie wins!": no value is guaranteed to Maxie yet."""
NO_BETA = leaf(INFINITY)
"""Initial beta, printed as "Maxie wins!": no value is guaranteed to Minnie yet."""


def max_alpha(old: MoveValue, new: MoveValue) -> MoveValue:
    """Return the greater bound; for equal values the old one, except that a Step replaces a Leaf (docs/search.md)."""
    if new.value == old.value:
        return new if new.is_step and not old.is_step else old
    return new if new.value > old.value else old


def min_beta(old: MoveValue, new: MoveValue) -> MoveValue:
    """Return the smaller bound; for equal values the old one, except that a Step replaces a Leaf (docs/search.md)."""
    if new.value == old.value:
        return new if new.is_step and not old.is_step else old
    return new if new.value < old.value else old
