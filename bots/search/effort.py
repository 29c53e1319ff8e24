"""Work of each search, counted in leaves: Holden's question (source 003, how effective is pruning?).

A leaf is a position that is valued at the end of a line. The count of a search that deepens includes the leaves
of all its iterations. The count of a search that sorts moves by static values also includes the positions
estimated only for sorting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import ceil
from typing import Any

from arena.bots.search.algorithms import ALGORITHMS, AlgorithmSettings
from arena.bots.search.deepening import deepen
from arena.bots.search.monitor import SearchMonitor, Stop, Stopped
from arena.bots.search.play import AlphaBeta, Table
from arena.bots.search.pool import ThreadPool
from arena.bots.search.problem import Problem

DEEPEST = 40
"""Maximum depth of a comparison, whatever the budget."""

Method = Callable[[Problem[Any, Any], Any, int], Iterator[int]]
"""Function that yields the leaves of depth 1, 2, 3 …, until the budget is exceeded or the game is finished."""


def _budget(leaves: Callable[[], int], budget: int) -> Stop:
    return lambda: leaves() > budget


def _fixed_depth(name: str) -> Method:
    def count(problem: Problem[Any, Any], position: Any, budget: int) -> Iterator[int]:
        with ThreadPool(1) as pool:
            for depth in range(1, DEEPEST + 1):
                # limit nodes instead, because the leaves of a parallel part are only known after its end
                nodes = 0

                def stop() -> bool:
                    nonlocal nodes
                    nodes += 1
                    return nodes > 2 * budget + 100

                monitor = SearchMonitor(stop)
                try:
                    ALGORITHMS[name].run(problem, position, depth, monitor, AlgorithmSettings(pool))
                except Stopped:
                    return
                if monitor.leaves > budget:
                    return
                yield monitor.leaves
                if not monitor.horizon:
                    return

    return count


def _iterative(make: Callable[[Problem[Any, Any]], AlphaBeta[Any, Any]]) -> Method:
    def count(problem: Problem[Any, Any], position: Any, budget: int) -> Iterator[int]:
        monitors: list[SearchMonitor] = []

        def counted() -> int:
            return sum(monitor.leaves + monitor.sorted for monitor in monitors)

        def make_monitor(stop: Stop) -> SearchMonitor:
            monitors.append(SearchMonitor(stop))
            return monitors[-1]

        reports = deepen(
            problem.game,
            position,
            make(problem),
            stop=_budget(counted, budget),
            max_depth=DEEPEST,
            make_monitor=make_monitor,
        )
        for report in reports:
            if report.finished:
                yield counted()

    return count


METHODS: Mapping[str, Method] = {
    "minimax": _fixed_depth("minimax"),
    "lazy": _fixed_depth("lazy"),
    "jamboree": _fixed_depth("jamboree"),
    "scouts": _fixed_depth("scouts"),
    "alphabeta": _fixed_depth("alphabeta"),
    "ordered": _iterative(lambda problem: AlphaBeta(problem.evaluator, static=False)),
    "sorted": _iterative(lambda problem: AlphaBeta(problem.evaluator, static=True)),
    "table": _iterative(lambda problem: AlphaBeta(problem.evaluator, table=Table(), static=True)),
}
"""Compared methods:

minimax    all nodes
lazy       source 000: shallow cuts
jamboree   source 001, half of the moves in sequence (the course's default)
scouts     the original Jamboree
alphabeta  source 001, in move order
ordered    alpha-beta that deepens, with moves ordered by the previous iteration (source 003)
sorted     alpha-beta that deepens, with new nodes sorted by static values
table      alpha-beta that deepens and sorts, with a transposition table (source 003)
"""


TWICE = ("minimax", "alphabeta", "ordered", "sorted", "table")
"""Methods whose depth for the same number of leaves is compared: plain pruning, then ordering, then memory."""


@dataclass(frozen=True)
class Reach:
    """Depth that each method reaches with the leaves that minimax needs for `depth`.

    `ideal` is the depth that alpha-beta would reach in perfect order if every node had q moves: the minimal
    tree of Knuth and Moore has q^⌈p/2⌉ + q^⌊p/2⌋ - 1 leaves. It is None if q is 1.
    """

    depth: int
    leaves: int
    reached: Mapping[str, int]
    ideal: int | None


@dataclass(frozen=True)
class Comparison:
    """Leaves by method and depth: `leaves[name][p - 1]` for depth p, within the budget.

    Methods of `TWICE` are counted to any depth, the others to `max_depth`.
    """

    leaves: Mapping[str, list[int]]
    budget: int
    max_depth: int

    @property
    def bounded_leaves(self) -> Mapping[str, list[int]]:
        """Return the counts up to `max_depth`."""
        return {name: counts[: self.max_depth] for name, counts in self.leaves.items()}

    @property
    def deepest(self) -> int:
        """Return the greatest depth that any method reached, at most `max_depth`."""
        return max((len(counts) for counts in self.bounded_leaves.values()), default=0)

    def breadth(self, depth: int) -> float | None:
        """Return q, the depth-th root of minimax's leaves. Beyond minimax's reach, return its last q."""
        counts = self.bounded_leaves["minimax"]
        if not counts:
            return None
        plies = min(depth, len(counts))
        return float(counts[plies - 1] ** (1 / plies))

    def expected(self, depth: int, share: float) -> int | None:
        """Return q^(share × depth). `share` is 1 for minimax, 3/4 for random move order, 1/2 for perfect order."""
        q = self.breadth(depth)
        return None if q is None else round(q ** (share * depth))

    def reaches(self) -> list[Reach]:
        """Return the depths reached with equal leaves: Holden's "twice as many moves as before".

        There is one row for each depth that minimax finished, up to `max_depth`.
        """
        return [
            Reach(
                depth,
                leaves,
                {
                    "minimax": depth,
                    **{name: sum(count <= leaves for count in self.leaves[name]) for name in TWICE[1:]},
                },
                _ideal(leaves ** (1 / depth), leaves),
            )
            for depth, leaves in enumerate(self.bounded_leaves["minimax"], 1)
        ]


def compare(problem: Problem[Any, Any], position: Any, max_depth: int, budget: int) -> Comparison:
    """Count the leaves of every method, each within `budget` leaves."""
    leaves = {
        name: list(islice(count(problem, position, budget), DEEPEST if name in TWICE[1:] else max_depth))
        for name, count in METHODS.items()
    }
    return Comparison(leaves, budget, max_depth)


def _ideal(breadth: float, leaves: int) -> int | None:
    if leaves == 1:
        return None
    depth = 0
    # half a leaf of tolerance, because q is a rounded root
    while breadth ** ceil((depth + 1) / 2) + breadth ** ((depth + 1) // 2) - 1 <= leaves + 0.5:
        depth += 1
    return depth
