"""Scale of the values of positions, which all search algorithms share.

A value is an integer for Maxie, who prefers high values. A win for her d plies from the root of the search has the value
`WIN_VALUE - d`, and a loss `-(WIN_VALUE - d)`, so that a nearer win and a later loss are better; a draw is 0. Estimates
stay within ±ESTIMATE_LIMIT, so an estimate is never mistaken for a win. The distance of a win must stay below
WIN_VALUE - ESTIMATE_LIMIT = 100,000 plies.
"""

from __future__ import annotations

from arena.games.core import Outcome

WIN_VALUE = 1_000_000
"""Value of a root position that Maxie has already won. A win for her d plies after the root has the value WIN_VALUE - d."""
ESTIMATE_LIMIT = 900_000
"""Maximum absolute value of an estimate. Greater values are wins or losses."""
INFINITY = WIN_VALUE + 1
"""Bound greater than every value of a position: the window from -INFINITY to INFINITY excludes no value."""


def compute_outcome_value(outcome: Outcome, plies_from_root: int) -> int:
    """Return the value for Maxie of a finished position, `plies_from_root` plies below the root of the search."""
    if outcome.winner is None:
        return 0
    return outcome.winner.sign * (WIN_VALUE - plies_from_root)


def clamp_estimate(estimate: int) -> int:
    """Return the value nearest to `estimate` within ±ESTIMATE_LIMIT."""
    return max(-ESTIMATE_LIMIT, min(ESTIMATE_LIMIT, estimate))


def is_decided(search_value: int) -> bool:
    """Return True if the value is a certain win of either player, which no deeper search changes."""
    return abs(search_value) > ESTIMATE_LIMIT


def count_plies_to_end(search_value: int) -> int | None:
    """Return the number of plies from the root to the end, if the value is a certain win of either player; otherwise None."""
    return WIN_VALUE - abs(search_value) if is_decided(search_value) else None


def to_root_value(node_value: int, plies_from_root: int) -> int:
    """Return the value of a win or a loss with its plies counted from the root instead of from a node.

    The node is `plies_from_root` plies below the root. Estimates and draws stay as they are, because only
    a win or a loss contains the number of plies to the end. The conversion keeps the order of values, so bounds stay bounds.
    """
    if node_value > ESTIMATE_LIMIT:
        return node_value - plies_from_root
    if node_value < -ESTIMATE_LIMIT:
        return node_value + plies_from_root
    return node_value


def to_node_value(root_value: int, plies_from_root: int) -> int:
    """Return the value of a win or a loss with its plies counted from a node instead of from the root.

    The node is `plies_from_root` plies below the root. Estimates and draws stay as they are.
    Transposition tables store values in this form, because paths of several lengths may lead to the node. The inverse is
    `to_root_value`.
    """
    return to_root_value(root_value, -plies_from_root)
