"""All reference algorithms by name, for traces, comparisons and tests.

Each algorithm returns minimax's value and the first best move in move order, with two exceptions: `lazy-ordered` may return
another best move, and a search with the settings `max_moves_per_node` or `is_dynamic` (`AlgorithmSettings`) may have another value.
`lazy-ordered` also estimates inner nodes, so each node of an explicit tree (`games.explicit`) needs a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from arena.bots.search.alphabeta import alphabeta, clamped_alphabeta, failsoft
from arena.bots.search.jamboree import jamboree
from arena.bots.search.lazy import lazy_alphabeta
from arena.bots.search.minimax import higher_order_minimax, minimax, negamax, one_line_minimax
from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.problem import Problem, SearchResult
from arena.bots.search.scouts import scouts
from arena.bots.search.stack import stack_alphabeta, stack_minimax
from arena.bots.search.thread_pool import ThreadPool


@dataclass(frozen=True, slots=True)
class AlgorithmSettings:
    """Options that some algorithms use.

    pool                threads on which the parallel algorithms run
    prune_fraction      fraction of a node's moves that Jamboree searches in sequence
    max_moves_per_node  number of moves of each node that the ordered lazy search examines; 0 for all
    is_dynamic          returns True for a position below which the lazy searches continue; None to stop at the depth everywhere
    max_extra_plies     maximum number of plies that the lazy searches continue beyond the depth, if `is_dynamic` is given
    memoize             True if the lazy searches keep their tree in memory
    """

    pool: ThreadPool
    prune_fraction: float = 0.5
    max_moves_per_node: int = 0
    is_dynamic: Callable[[Any], bool] | None = None
    max_extra_plies: int = 0
    memoize: bool = False


SearchFunction = Callable[[Problem[Any, Any], Any, int, SearchMonitor, AlgorithmSettings], SearchResult[Any]]
"""Function of (problem, position, depth in plies, monitor, settings) that searches the position and returns the result."""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A search algorithm, with its properties.

    run           function that runs the search
    is_parallel   True if the algorithm uses the thread pool
    is_recursive  True if the search calls itself, so that Python's call stack limits its depth
    """

    run: SearchFunction
    is_parallel: bool = False
    is_recursive: bool = True


def _adapt_search_without_settings(
    function: Callable[[Problem[Any, Any], Any, int, SearchMonitor], SearchResult[Any]],
) -> SearchFunction:
    return lambda problem, position, depth, monitor, _: function(problem, position, depth, monitor)


def _run_jamboree(
    problem: Problem[Any, Any], position: Any, depth: int, monitor: SearchMonitor, settings: AlgorithmSettings
) -> SearchResult[Any]:
    return jamboree(
        problem, position, depth, monitor, pool=settings.pool, prune_fraction=settings.prune_fraction
    )


def _run_scouts(
    problem: Problem[Any, Any], position: Any, depth: int, monitor: SearchMonitor, settings: AlgorithmSettings
) -> SearchResult[Any]:
    return scouts(problem, position, depth, monitor, pool=settings.pool)


def _run_lazy_search(
    problem: Problem[Any, Any],
    position: Any,
    depth: int,
    monitor: SearchMonitor,
    settings: AlgorithmSettings,
    *,
    is_ordered: bool = False,
) -> SearchResult[Any]:
    return lazy_alphabeta(
        problem,
        position,
        depth,
        monitor,
        is_ordered=is_ordered,
        max_moves_per_node=settings.max_moves_per_node,
        is_dynamic=settings.is_dynamic,
        max_extra_plies=settings.max_extra_plies,
        memoize=settings.memoize,
    )


ALGORITHMS: Mapping[str, Algorithm] = {
    "minimax": Algorithm(_adapt_search_without_settings(minimax)),
    "higher-order": Algorithm(_adapt_search_without_settings(higher_order_minimax)),
    "negamax": Algorithm(_adapt_search_without_settings(negamax)),
    "one-line": Algorithm(_adapt_search_without_settings(one_line_minimax)),
    "alphabeta": Algorithm(_adapt_search_without_settings(alphabeta)),
    "clamped": Algorithm(_adapt_search_without_settings(clamped_alphabeta)),
    "failsoft": Algorithm(_adapt_search_without_settings(failsoft)),
    "lazy": Algorithm(_run_lazy_search),
    "lazy-ordered": Algorithm(partial(_run_lazy_search, is_ordered=True)),
    "stack-minimax": Algorithm(_adapt_search_without_settings(stack_minimax), is_recursive=False),
    "stack-alphabeta": Algorithm(_adapt_search_without_settings(stack_alphabeta), is_recursive=False),
    "stack-memo": Algorithm(
        _adapt_search_without_settings(partial(stack_alphabeta, memoize=True)), is_recursive=False
    ),
    "jamboree": Algorithm(_run_jamboree, is_parallel=True),
    "scouts": Algorithm(_run_scouts, is_parallel=True),
}
"""Reference algorithms by name. The docstring of each function names its source, if it has one."""
