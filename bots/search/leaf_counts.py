"""Number of leaves that each search visits, to show how effective pruning is. Holden's lecture on games asks for these numbers.

A leaf is a position where the search looks no further, and takes a value: an estimate, or the result of the match. For a search
by iterative deepening, the leaves of all its iterations are counted. For a search that sorts moves by static values (estimates
without a search), the positions estimated only for sorting are counted too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import ceil
from typing import Any

from arena.bots.search.algorithms import ALGORITHMS, AlgorithmSettings
from arena.bots.search.deepening import deepen
from arena.bots.search.monitor import SearchMonitor, SearchStopped, StopCondition, stop_after_nodes
from arena.bots.search.play import AlphaBeta
from arena.bots.search.problem import Problem
from arena.bots.search.table import Table
from arena.bots.search.thread_pool import ThreadPool

MAX_COMPARED_DEPTH = 40
"""Maximum depth of a comparison in plies, even if the allowed number of leaves is enough for a greater depth."""

LeafCounter = Callable[[Problem[Any, Any], Any, int], Iterator[int]]
"""Function of (problem, position, maximum number of leaves). It yields the number of leaves at depth 1, 2, 3 …

The iterator ends before the first depth that needs more leaves than the maximum. It also ends after a depth at which every
line of play reaches the end of the match, so that no search can go deeper.
"""


def _make_fixed_depth_counter(algorithm_name: str) -> LeafCounter:
    def count_leaves_by_depth(problem: Problem[Any, Any], position: Any, max_leaves: int) -> Iterator[int]:
        with ThreadPool(1) as pool:
            for depth in range(1, MAX_COMPARED_DEPTH + 1):
                # limit nodes instead, because the leaves of a parallel part are only known after its end
                monitor = SearchMonitor(stop_after_nodes(2 * max_leaves + 100))
                try:
                    ALGORITHMS[algorithm_name].run(problem, position, depth, monitor, AlgorithmSettings(pool))
                except SearchStopped:
                    return
                if monitor.leaves > max_leaves:
                    return
                yield monitor.leaves
                if not monitor.has_reached_horizon:
                    return

    return count_leaves_by_depth


def _make_deepening_counter(make_search: Callable[[Problem[Any, Any]], AlphaBeta[Any, Any]]) -> LeafCounter:
    def count_leaves_by_depth(problem: Problem[Any, Any], position: Any, max_leaves: int) -> Iterator[int]:
        monitors: list[SearchMonitor] = []

        def count_leaves() -> int:
            return sum(monitor.leaves + monitor.sort_estimates for monitor in monitors)

        def make_monitor(stop: StopCondition) -> SearchMonitor:
            monitors.append(SearchMonitor(stop))
            return monitors[-1]

        reports = deepen(
            problem.game,
            position,
            make_search(problem),
            stop=lambda: count_leaves() > max_leaves,
            max_depth=MAX_COMPARED_DEPTH,
            make_monitor=make_monitor,
        )
        for report in reports:
            if report.is_depth_finished:
                yield count_leaves()

    return count_leaves_by_depth


LEAF_COUNTERS: Mapping[str, LeafCounter] = {
    "minimax": _make_fixed_depth_counter("minimax"),
    "lazy": _make_fixed_depth_counter("lazy"),
    "jamboree": _make_fixed_depth_counter("jamboree"),
    "scouts": _make_fixed_depth_counter("scouts"),
    "alphabeta": _make_fixed_depth_counter("alphabeta"),
    "ordered": _make_deepening_counter(lambda problem: AlphaBeta(problem.evaluator, sort_statically=False)),
    "sorted": _make_deepening_counter(lambda problem: AlphaBeta(problem.evaluator, sort_statically=True)),
    "table": _make_deepening_counter(
        lambda problem: AlphaBeta(problem.evaluator, table=Table(), sort_statically=True)
    ),
}
"""Function that counts the leaves of each compared search, by the name of the search:

minimax    visits all nodes
lazy       alpha-beta on a lazy tree (Hughes), which makes only shallow cuts
jamboree   parallel alpha-beta, with the first half of each node's moves searched in sequence
scouts     the original Jamboree, which tests moves in parallel with null windows (Joerg and Kuszmaul)
alphabeta  alpha-beta, with moves in the game's own order
ordered    alpha-beta by iterative deepening, with moves ordered by the previous iteration
sorted     the same as `ordered`, with the moves of new nodes sorted by static values
table      the same as `sorted`, with a transposition table
"""


METHODS_WITH_REACHED_DEPTHS = ("minimax", "alphabeta", "ordered", "sorted", "table")
"""Names of the searches whose depths for equal numbers of leaves are compared. Each adds a technique to the one before it."""


@dataclass(frozen=True)
class ReachedDepths:
    """Depth that each search method reaches with `leaf_count` leaves, the number that minimax needs for `minimax_depth`.

    All depths are in plies. `ideal_depth` is the depth that alpha-beta would reach with perfect move order on a tree with q
    moves at every node; q is the `minimax_depth`-th root of `leaf_count`. According to Knuth and Moore, alpha-beta then visits
    q^⌈p/2⌉ + q^⌊p/2⌋ - 1 leaves at depth p. `ideal_depth` is None if minimax has only one leaf.
    """

    minimax_depth: int
    leaf_count: int
    depth_by_method: Mapping[str, int]
    ideal_depth: int | None


@dataclass(frozen=True)
class LeafCountComparison:
    """Number of leaves by search method and depth: `leaf_counts_by_method[name][p - 1]` is the number at depth p.

    `max_leaves` is the maximum number of leaves: a method's numbers end at the last depth that needs no more. They also end
    at a maximum depth: `MAX_COMPARED_DEPTH` for the methods in `METHODS_WITH_REACHED_DEPTHS` except minimax, and
    `max_depth` for all others.
    """

    leaf_counts_by_method: Mapping[str, list[int]]
    max_leaves: int
    max_depth: int

    @property
    def leaf_counts_to_max_depth(self) -> Mapping[str, list[int]]:
        """Return the numbers of leaves at depth 1, 2, 3 … up to `max_depth`, by search method."""
        return {name: counts[: self.max_depth] for name, counts in self.leaf_counts_by_method.items()}

    @property
    def max_reached_depth(self) -> int:
        """Return the greatest depth that any method reached, at most `max_depth`; 0 if no method finished depth 1."""
        return max((len(counts) for counts in self.leaf_counts_to_max_depth.values()), default=0)

    def compute_branching_factor(self, depth: int) -> float | None:
        """Return the branching factor q: the p-th root of the number of leaves that minimax visits at depth p.

        The depth p is `depth`, or the last depth that minimax reached if that is less. Return None if minimax did not finish
        depth 1.
        """
        counts = self.leaf_counts_to_max_depth["minimax"]
        if not counts:
            return None
        plies = min(depth, len(counts))
        return float(counts[plies - 1] ** (1 / plies))

    def compute_expected_leaf_count(self, depth: int, exponent_factor: float) -> int | None:
        """Return the number of leaves that theory expects at `depth`; None if minimax did not finish depth 1.

        The number is q^(exponent_factor × depth), rounded, where q is the branching factor (`compute_branching_factor`).
        `exponent_factor` is 1 for minimax; for alpha-beta, it is 3/4 with random move order and 1/2 with perfect order.
        """
        q = self.compute_branching_factor(depth)
        return None if q is None else round(q ** (exponent_factor * depth))

    def list_reached_depths(self) -> list[ReachedDepths]:
        """Return the depth that each method reaches with as many leaves as minimax needs for a given depth.

        The list has one entry for each depth that minimax finished, up to `max_depth`. The depths test the claim of
        Holden's lecture on games (source 003 in docs/search.md) that alpha-beta looks "twice as many moves" ahead.
        """
        return [
            ReachedDepths(
                depth,
                leaves,
                {
                    "minimax": depth,
                    **{
                        name: sum(
                            count_leaves_by_depth <= leaves
                            for count_leaves_by_depth in self.leaf_counts_by_method[name]
                        )
                        for name in METHODS_WITH_REACHED_DEPTHS[1:]
                    },
                },
                _find_depth_with_perfect_order(leaves ** (1 / depth), leaves),
            )
            for depth, leaves in enumerate(self.leaf_counts_to_max_depth["minimax"], 1)
        ]


def compare_leaf_counts(
    problem: Problem[Any, Any], position: Any, max_depth: int, max_leaves: int
) -> LeafCountComparison:
    """Return the number of leaves that each search visits at each depth, up to `max_depth` and at most `max_leaves` leaves.

    `LeafCountComparison` tells which of the two limits applies to which search.
    """
    leaves = {
        name: list(
            islice(
                count_leaves_by_depth(problem, position, max_leaves),
                MAX_COMPARED_DEPTH if name in METHODS_WITH_REACHED_DEPTHS[1:] else max_depth,
            )
        )
        for name, count_leaves_by_depth in LEAF_COUNTERS.items()
    }
    return LeafCountComparison(leaves, max_leaves, max_depth)


def _find_depth_with_perfect_order(branching_factor: float, leaves: int) -> int | None:
    if leaves == 1:
        return None
    depth = 0
    # half a leaf of tolerance, because q is a rounded root
    while (
        branching_factor ** ceil((depth + 1) / 2) + branching_factor ** ((depth + 1) // 2) - 1 <= leaves + 0.5
    ):
        depth += 1
    return depth
