"""Which moves of a node Jamboree searches in sequence, and which in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import TypeVar

T = TypeVar("T")


def split_moves(moves: Sequence[T], prune_percentage: float) -> tuple[Sequence[T], Sequence[T]]:
    """The first floor(prune_percentage × n) moves, and the rest (001, section 6; erratum 5)."""
    cut = floor(prune_percentage * len(moves))
    return moves[:cut], moves[cut:]
