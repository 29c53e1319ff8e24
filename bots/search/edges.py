"""Bounds and results as the course's alpha-beta has them (001, section 5.4).

The course's datatype `value` is a Step, with the move that leads to the value, or a Leaf, without
one. Here both are an Edge; a Leaf's move is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.bots.search.values import INFINITY


@dataclass(frozen=True, slots=True)
class Edge:
    """A value, and the move that led to it. Make one with `step` or `leaf`."""

    value: int
    move: Any = None

    @property
    def is_step(self) -> bool:
        """Whether there is a move."""
        return self.move is not None


def step(move: object, value: int) -> Edge:
    """The course's Step(move, value)."""
    return Edge(value, move)


def leaf(value: int) -> Edge:
    """The course's Leaf(value)."""
    return Edge(value)


NO_ALPHA = leaf(-INFINITY)
"""Printed "Minnie wins!": nothing is known to be reachable for Maxie yet."""
NO_BETA = leaf(INFINITY)
"""Printed "Maxie wins!": nothing is known to be reachable for Minnie yet."""


def max_alpha(old: Edge, new: Edge) -> Edge:
    """The greater; on equal values the old one, except that a Step beats a Leaf (erratum 4)."""
    if new.value == old.value:
        return new if new.is_step and not old.is_step else old
    return new if new.value > old.value else old


def min_beta(old: Edge, new: Edge) -> Edge:
    """The smaller; on equal values the old one, except that a Step beats a Leaf (erratum 4)."""
    if new.value == old.value:
        return new if new.is_step and not old.is_step else old
    return new if new.value < old.value else old
