"""What a value is. Every algorithm here shares these.

A value is an integer for Maxie: she likes high ones. A won position is worth WIN - d, where d is the
number of plies from the root of the search to it, so that a nearer win is better and a later loss is
better; a draw is 0. Estimates stay within ±ESTIMATE_LIMIT, so an estimate is never taken for a win.
Distances must stay below WIN - ESTIMATE_LIMIT = 100,000 plies.
"""

from __future__ import annotations

from arena.games.core import Outcome

WIN = 1_000_000
ESTIMATE_LIMIT = 900_000
INFINITY = WIN + 1
"""Beyond every value: -INFINITY and INFINITY make the window that bounds nothing."""


def outcome_value(outcome: Outcome, distance: int) -> int:
    """The value of a position that is over, `distance` plies from the root of the search."""
    if outcome.winner is None:
        return 0
    return outcome.winner.sign * (WIN - distance)


def clamp(estimate: int) -> int:
    """The nearest value that an evaluator may give."""
    return max(-ESTIMATE_LIMIT, min(ESTIMATE_LIMIT, estimate))


def is_decided(value: int) -> bool:
    """Whether the value is that of a won position: no deeper search will change it."""
    return abs(value) > ESTIMATE_LIMIT


def plies_to_end(value: int) -> int | None:
    """In how many plies from the root a decided value is reached; None for any other value."""
    return WIN - abs(value) if is_decided(value) else None


def from_root(value: int, distance: int) -> int:
    """A value that was counted from a node, as seen from the root `distance` plies above it.

    Strictly monotone, so bounds stay bounds.
    """
    if value > ESTIMATE_LIMIT:
        return value - distance
    if value < -ESTIMATE_LIMIT:
        return value + distance
    return value


def from_node(value: int, distance: int) -> int:
    """The inverse of `from_root`: what a table keeps, since another path may reach the node."""
    return from_root(value, -distance)
