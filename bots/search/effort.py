"""How much work each search does, counted in leaves: Holden's question (003, how effective is pruning?).

A leaf is a position that is valued at the end of a line. For a search that deepens, the leaves of all
its iterations count; for one that sorts moves by static values, so does every position that it
estimates only for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import ceil
from typing import Any

from arena.bots.search.algorithms import ALGORITHMS, Settings
from arena.bots.search.deepening import deepen
from arena.bots.search.play import AlphaBeta, Table
from arena.bots.search.pool import Pool
from arena.bots.search.problem import Problem
from arena.bots.search.watch import Stop, Stopped, Watch

DEEPEST = 40
"""No comparison looks further, whatever the budget."""

Method = Callable[[Problem[Any, Any], Any, int], Iterator[int]]
"""The leaves of depth 1, 2, 3 …, until one would take more than the budget or the game is finished."""


def _budget(counted: Callable[[], int], budget: int) -> Stop:
    return lambda: counted() > budget


def _fixed(name: str) -> Method:
    def count(problem: Problem[Any, Any], position: Any, budget: int) -> Iterator[int]:
        with Pool(1) as pool:
            for depth in range(1, DEEPEST + 1):
                # nodes, because the leaves of a parallel part are only known when it has ended
                nodes = 0

                def stop() -> bool:
                    nonlocal nodes
                    nodes += 1
                    return nodes > 2 * budget + 100

                watch = Watch(stop)
                try:
                    ALGORITHMS[name].run(problem, position, depth, watch, Settings(pool))
                except Stopped:
                    return
                if watch.leaves > budget:
                    return
                yield watch.leaves
                if not watch.horizon:
                    return

    return count


def _deepened(make: Callable[[Problem[Any, Any]], AlphaBeta[Any, Any]]) -> Method:
    def count(problem: Problem[Any, Any], position: Any, budget: int) -> Iterator[int]:
        watches: list[Watch] = []

        def counted() -> int:
            return sum(watch.leaves + watch.sorted for watch in watches)

        def make_watch(stop: Stop) -> Watch:
            watches.append(Watch(stop))
            return watches[-1]

        reports = deepen(
            problem.game,
            position,
            make(problem),
            stop=_budget(counted, budget),
            max_depth=DEEPEST,
            make_watch=make_watch,
        )
        for report in reports:
            if report.finished:
                yield counted()

    return count


METHODS: Mapping[str, Method] = {
    "minimax": _fixed("minimax"),
    "lazy": _fixed("lazy"),
    "jamboree": _fixed("jamboree"),
    "scouts": _fixed("scouts"),
    "alphabeta": _fixed("alphabeta"),
    "ordered": _deepened(lambda problem: AlphaBeta(problem.evaluator, static=False)),
    "sorted": _deepened(lambda problem: AlphaBeta(problem.evaluator, static=True)),
    "table": _deepened(lambda problem: AlphaBeta(problem.evaluator, table=Table(), static=True)),
}
"""What is compared:

minimax    everything
lazy       000: shallow cuts
jamboree   001, half of the moves in sequence (the course's default)
scouts     the original Jamboree
alphabeta  001, in move order
ordered    alpha-beta that deepens, the order of one iteration driving the next (003)
sorted     alpha-beta that deepens, with new nodes sorted by static values
table      alpha-beta that deepens and sorts, with a transposition table (003)
"""


TWICE = ("minimax", "alphabeta", "ordered", "sorted", "table")
"""The methods whose reach in equal leaves is compared: pruning alone, then ordered, then with memory."""


@dataclass(frozen=True)
class Reach:
    """How deep each method gets with the leaves that minimax needs for `depth`.

    `ideal` is how deep alpha-beta would get in perfect order, if every node had q moves: the minimal
    tree of Knuth and Moore has q^⌈p/2⌉ + q^⌊p/2⌋ - 1 leaves. None where q is 1.
    """

    depth: int
    leaves: int
    reached: Mapping[str, int]
    ideal: int | None


@dataclass(frozen=True)
class Comparison:
    """Leaves by method and depth: `leaves[name][p - 1]` for depth p, as far as the budget went.

    Methods of `TWICE` are counted to any depth, the others to `max_depth`.
    """

    leaves: Mapping[str, list[int]]
    budget: int
    max_depth: int

    @property
    def shown(self) -> Mapping[str, list[int]]:
        """The counts to `max_depth`."""
        return {name: counts[: self.max_depth] for name, counts in self.leaves.items()}

    @property
    def deepest(self) -> int:
        """The deepest depth that any method reached, at most `max_depth`."""
        return max((len(counts) for counts in self.shown.values()), default=0)

    def breadth(self, depth: int) -> float | None:
        """q: minimax's leaves are q to the power of the depth. Beyond minimax's reach, its last q."""
        counts = self.shown["minimax"]
        if not counts:
            return None
        known = min(depth, len(counts))
        return float(counts[known - 1] ** (1 / known))

    def expected(self, depth: int, share: float) -> int | None:
        """q to the power of `share` × depth: 1 for minimax, 3/4 for moves in random order, 1/2 for the best."""
        q = self.breadth(depth)
        return None if q is None else round(q ** (share * depth))

    def reaches(self) -> list[Reach]:
        """Holden's "twice as many moves as before": depth reached in equal leaves.

        One row for each depth that minimax finished, up to `max_depth`.
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
            for depth, leaves in enumerate(self.shown["minimax"], 1)
        ]


def compare(problem: Problem[Any, Any], position: Any, max_depth: int, budget: int) -> Comparison:
    """Count the leaves of every method, each as far as `budget` leaves go."""
    leaves = {
        name: list(islice(count(problem, position, budget), DEEPEST if name in TWICE[1:] else max_depth))
        for name, count in METHODS.items()
    }
    return Comparison(leaves, budget, max_depth)


def _ideal(breadth: float, leaves: int) -> int | None:
    if leaves == 1:
        return None
    depth = 0
    # half a leaf of grace, because q is a root that was rounded
    while breadth ** ceil((depth + 1) / 2) + breadth ** ((depth + 1) // 2) - 1 <= leaves + 0.5:
        depth += 1
    return depth
