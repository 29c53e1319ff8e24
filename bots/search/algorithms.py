"""All reference algorithms by name, for traces, comparisons and tests.

All of them return minimax's value and the leftmost best move, except if `leftmost` is False.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from arena.bots.search.alphabeta import alphabeta, failsoft, holden_alphabeta
from arena.bots.search.jamboree import jamboree
from arena.bots.search.lazy import lazy
from arena.bots.search.minimax import higher_order, minimax, negamax, one_line
from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.pool import ThreadPool
from arena.bots.search.problem import Problem, SearchResult
from arena.bots.search.scouts import scouts
from arena.bots.search.stack import stack_alphabeta, stack_minimax


@dataclass(frozen=True, slots=True)
class AlgorithmSettings:
    """Options that some algorithms use.

    pool     threads of the parallel algorithms
    prune    Jamboree's share of moves in sequence
    take     number of moves of each node that the ordered lazy search looks at; 0 for all
    dynamic  predicate for positions below which the lazy searches continue, for at most `bound` plies
    memoize  True if the lazy searches keep their tree in memory
    """

    pool: ThreadPool
    prune: float = 0.5
    take: int = 0
    dynamic: Callable[[Any], bool] | None = None
    bound: int = 0
    memoize: bool = False


Run = Callable[[Problem[Any, Any], Any, int, SearchMonitor, AlgorithmSettings], SearchResult[Any]]


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A search of the root.

    source    its source
    run       the search: problem, position, depth, monitor, settings
    parallel  True if it uses the pool
    leftmost  True if its move is the leftmost best; otherwise it is any of the best moves
    static    True if it also estimates inner nodes, which an explicit tree does not allow
    recursive True if Python's stack limits its depth
    """

    source: str
    run: Run
    parallel: bool = False
    leftmost: bool = True
    static: bool = False
    recursive: bool = True


def _sequential(function: Callable[[Problem[Any, Any], Any, int, SearchMonitor], SearchResult[Any]]) -> Run:
    return lambda problem, position, depth, monitor, _: function(problem, position, depth, monitor)


def _jamboree(
    problem: Problem[Any, Any], position: Any, depth: int, monitor: SearchMonitor, settings: AlgorithmSettings
) -> SearchResult[Any]:
    return jamboree(problem, position, depth, monitor, pool=settings.pool, prune_percentage=settings.prune)


def _scouts(
    problem: Problem[Any, Any], position: Any, depth: int, monitor: SearchMonitor, settings: AlgorithmSettings
) -> SearchResult[Any]:
    return scouts(problem, position, depth, monitor, pool=settings.pool)


def _lazy(
    problem: Problem[Any, Any], position: Any, depth: int, monitor: SearchMonitor, settings: AlgorithmSettings
) -> SearchResult[Any]:
    return lazy(
        problem,
        position,
        depth,
        monitor,
        dynamic=settings.dynamic,
        bound=settings.bound,
        memoize=settings.memoize,
    )


def _lazy_ordered(
    problem: Problem[Any, Any], position: Any, depth: int, monitor: SearchMonitor, settings: AlgorithmSettings
) -> SearchResult[Any]:
    return lazy(
        problem,
        position,
        depth,
        monitor,
        ordered=True,
        take=settings.take,
        dynamic=settings.dynamic,
        bound=settings.bound,
        memoize=settings.memoize,
    )


ALGORITHMS: Mapping[str, Algorithm] = {
    "minimax": Algorithm("003; 000", _sequential(minimax)),
    "higher-order": Algorithm("002", _sequential(higher_order)),
    "negamax": Algorithm("002", _sequential(negamax)),
    "one-line": Algorithm("002, its exercise", _sequential(one_line)),
    "alphabeta": Algorithm("001, section 5", _sequential(alphabeta)),
    "clamped": Algorithm("003", _sequential(holden_alphabeta)),
    "failsoft": Algorithm("Fishburn", _sequential(failsoft)),
    "lazy": Algorithm("000", _lazy),
    "lazy-ordered": Algorithm("000, highfirst", _lazy_ordered, leftmost=False, static=True),
    "stack-minimax": Algorithm("004", _sequential(stack_minimax), recursive=False),
    "stack-alphabeta": Algorithm("004", _sequential(stack_alphabeta), recursive=False),
    "stack-memo": Algorithm(
        "004, memoised",
        _sequential(
            lambda problem, position, depth, monitor: stack_alphabeta(
                problem, position, depth, monitor, memo=True
            )
        ),
        recursive=False,
    ),
    "jamboree": Algorithm("001, section 6", _jamboree, parallel=True),
    "scouts": Algorithm("Joerg and Kuszmaul", _scouts, parallel=True),
}
