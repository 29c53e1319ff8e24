"""All reference algorithms by name, for traces, comparisons and tests. Comments name their sources (docs/search.md).

Each returns minimax's value and the leftmost best move, except that algorithms with `leftmost` False return any best
move, and the options `take` and `dynamic` change the value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from arena.bots.search.alphabeta import alphabeta, failsoft, holden_alphabeta
from arena.bots.search.jamboree import jamboree
from arena.bots.search.lazy import lazy
from arena.bots.search.minimax import higher_order, minimax, negamax, one_line
from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.problem import Problem, SearchResult
from arena.bots.search.scouts import scouts
from arena.bots.search.stack import stack_alphabeta, stack_minimax
from arena.bots.search.thread_pool import ThreadPool


@dataclass(frozen=True, slots=True)
class AlgorithmSettings:
    """Options that some algorithms use.

    pool             threads of the parallel algorithms
    prune            fraction of a node's moves that Jamboree searches in sequence
    take             number of moves of each node that the ordered lazy search examines; 0 for all
    is_dynamic       predicate for positions below which the lazy searches continue; None to stop at the depth everywhere
    max_extra_plies  maximum number of plies that the lazy searches continue below such positions
    memoize          True if the lazy searches keep their tree in memory
    """

    pool: ThreadPool
    prune: float = 0.5
    take: int = 0
    is_dynamic: Callable[[Any], bool] | None = None
    max_extra_plies: int = 0
    memoize: bool = False


SearchFunction = Callable[[Problem[Any, Any], Any, int, SearchMonitor, AlgorithmSettings], SearchResult[Any]]
"""Function that searches a position of a problem to a depth in plies, and reports to the monitor."""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A search algorithm, with its properties.

    run                    the search itself
    parallel               True if it uses the thread pool
    leftmost               True if its move is the leftmost of the best moves; otherwise it is any of them
    estimates_inner_nodes  True if it also estimates inner nodes, which is impossible in an explicit tree
    recursive              True if Python's stack limits its depth
    """

    run: SearchFunction
    parallel: bool = False
    leftmost: bool = True
    estimates_inner_nodes: bool = False
    recursive: bool = True


def _run_sequential(
    function: Callable[[Problem[Any, Any], Any, int, SearchMonitor], SearchResult[Any]],
) -> SearchFunction:
    return lambda problem, position, depth, monitor, _: function(problem, position, depth, monitor)


def _run_jamboree(
    problem: Problem[Any, Any], position: Any, depth: int, monitor: SearchMonitor, settings: AlgorithmSettings
) -> SearchResult[Any]:
    return jamboree(problem, position, depth, monitor, pool=settings.pool, prune_percentage=settings.prune)


def _run_scouts(
    problem: Problem[Any, Any], position: Any, depth: int, monitor: SearchMonitor, settings: AlgorithmSettings
) -> SearchResult[Any]:
    return scouts(problem, position, depth, monitor, pool=settings.pool)


def _run_lazy(*, ordered: bool) -> SearchFunction:
    def run(
        problem: Problem[Any, Any],
        position: Any,
        depth: int,
        monitor: SearchMonitor,
        settings: AlgorithmSettings,
    ) -> SearchResult[Any]:
        return lazy(
            problem,
            position,
            depth,
            monitor,
            ordered=ordered,
            take=settings.take,
            is_dynamic=settings.is_dynamic,
            max_extra_plies=settings.max_extra_plies,
            memoize=settings.memoize,
        )

    return run


ALGORITHMS: Mapping[str, Algorithm] = {
    "minimax": Algorithm(_run_sequential(minimax)),  # 003; 000
    "higher-order": Algorithm(_run_sequential(higher_order)),  # 002
    "negamax": Algorithm(_run_sequential(negamax)),  # 002
    "one-line": Algorithm(_run_sequential(one_line)),  # 002, the exercise
    "alphabeta": Algorithm(_run_sequential(alphabeta)),  # 001, section 5
    "clamped": Algorithm(_run_sequential(holden_alphabeta)),  # 003
    "failsoft": Algorithm(_run_sequential(failsoft)),  # Fishburn
    "lazy": Algorithm(_run_lazy(ordered=False)),  # 000
    "lazy-ordered": Algorithm(
        _run_lazy(ordered=True), leftmost=False, estimates_inner_nodes=True
    ),  # 000, highfirst
    "stack-minimax": Algorithm(_run_sequential(stack_minimax), recursive=False),  # 004
    "stack-alphabeta": Algorithm(_run_sequential(stack_alphabeta), recursive=False),  # 004
    "stack-memo": Algorithm(  # 004, memoised
        _run_sequential(partial(stack_alphabeta, memoize=True)), recursive=False
    ),
    "jamboree": Algorithm(_run_jamboree, parallel=True),  # 001, section 6
    "scouts": Algorithm(_run_scouts, parallel=True),  # Joerg and Kuszmaul
}
