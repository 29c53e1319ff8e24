"""Search problem (a game and an evaluator) and search result.

The depth of a node is the number of plies that the search still looks ahead from there: at depth 0, the node is
estimated. Its distance is the number of plies from the root down to it. A leaf is a node below which no move is
searched, because the match is over or the node's depth is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple

from arena.bots.search.monitor import Path, SearchMonitor
from arena.bots.search.move_values import MoveValue
from arena.bots.search.search_values import compute_outcome_value
from arena.games.core import Game, M, P, RuleEndReason

Evaluator = Callable[[P], int]
"""Function that estimates an unfinished position: high if good for Maxie, in hundredths of an army, within ±ESTIMATE_LIMIT."""


class ExpandedNode(NamedTuple, Generic[M]):
    """Result of expanding a node: the moves of an inner node, in move order, or the value of a leaf, which has no moves.

    `value` is for Maxie, and 0 for an inner node. `is_at_horizon` is True for a leaf that is only estimated, because the
    search looks no further: a deeper search may change its value.
    """

    moves: Sequence[M]
    value: int
    is_at_horizon: bool


@dataclass(frozen=True, slots=True)
class Problem(Generic[P, M]):
    """Search problem: a game to search, and the evaluator for its positions."""

    game: Game[P, M]
    evaluator: Evaluator[P]

    def expand(self, position: P, depth: int, plies_from_root: int) -> ExpandedNode[M]:
        """Return the moves of a node that is searched `depth` plies deep, or the node's value if it is a leaf.

        `plies_from_root` is the number of plies from the root to the node.
        """
        if depth > 0:
            moves = self.game.moves(position)
            if moves:
                return ExpandedNode(moves, 0, is_at_horizon=False)
        outcome = self.game.outcome(position)
        if outcome is None:
            return ExpandedNode((), self.evaluator(position), is_at_horizon=True)
        if outcome.reason is RuleEndReason.LEAF:
            # a leaf of an explicit tree has its own value, independent of its nominal winner
            return ExpandedNode((), self.evaluator(position), is_at_horizon=False)
        return ExpandedNode((), compute_outcome_value(outcome, plies_from_root), is_at_horizon=False)

    def enter_node(
        self, monitor: SearchMonitor, path: Path, position: P, depth: int, *window: MoveValue | int
    ) -> ExpandedNode[M]:
        """Expand the node at `path`, and record in `monitor` that it is entered, and its value if it is a leaf.

        window  alpha and beta, for Maxie; none for a search without windows
        """
        monitor.enter_node(path, position, depth, *window)
        node = self.expand(position, depth, len(path))
        if not node.moves:
            monitor.record_leaf(path, position, node.value, is_at_horizon=node.is_at_horizon)
        return node


Line = tuple[M, ...]
"""Moves in the order in which they are played."""


@dataclass(frozen=True, slots=True)
class SearchResult(Generic[M]):
    """Result of a search of the root.

    value   value for Maxie, as `bots.search.search_values` describes
    move    best move; None if the root is a leaf
    line    moves that lead to the value, starting with `move`. The line ends early where a transposition table had the
            value; some algorithms return only `move`
    """

    value: int
    move: M | None
    line: Line[M] = ()
