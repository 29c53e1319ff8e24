"""Every algorithm of the reference by name: for traces, comparisons and tests.

All of them give minimax's value and the leftmost best move, except where `leftmost` is false.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from arena.bots.search.alphabeta import alphabeta
from arena.bots.search.clamped import clamped
from arena.bots.search.failsoft import failsoft
from arena.bots.search.jamboree import jamboree
from arena.bots.search.lazy import lazy
from arena.bots.search.minimax import higher_order, minimax, negamax, one_line
from arena.bots.search.pool import Pool
from arena.bots.search.problem import Problem, Result
from arena.bots.search.scouts import scouts
from arena.bots.search.stack import stack_alphabeta, stack_minimax
from arena.bots.search.watch import Watch


@dataclass(frozen=True, slots=True)
class Settings:
    """What some algorithms can be told.

    pool     the threads of the parallel ones
    prune    Jamboree's share of moves in sequence
    take     how many moves of a node the ordered lazy search looks at; 0 for all
    dynamic  which positions the lazy searches look on below, `bound` plies at most
    kept     whether the lazy searches keep their tree in memory
    """

    pool: Pool
    prune: float = 0.5
    take: int = 0
    dynamic: Callable[[Any], bool] | None = None
    bound: int = 0
    kept: bool = False


Run = Callable[[Problem[Any, Any], Any, int, Watch, Settings], Result[Any]]


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A search of a whole root.

    source    where it comes from
    run       the search: problem, position, depth, watch, settings
    parallel  whether it uses the pool
    leftmost  whether its move is the leftmost best; otherwise it is some best move
    static    whether it also estimates inner nodes, which an explicit tree does not allow
    recursive whether Python's stack bounds how deep it can search
    """

    source: str
    run: Run
    parallel: bool = False
    leftmost: bool = True
    static: bool = False
    recursive: bool = True


def _alone(function: Callable[[Problem[Any, Any], Any, int, Watch], Result[Any]]) -> Run:
    return lambda problem, position, depth, watch, _: function(problem, position, depth, watch)


def _jamboree(
    problem: Problem[Any, Any], position: Any, depth: int, watch: Watch, settings: Settings
) -> Result[Any]:
    return jamboree(problem, position, depth, watch, pool=settings.pool, prune_percentage=settings.prune)


def _scouts(
    problem: Problem[Any, Any], position: Any, depth: int, watch: Watch, settings: Settings
) -> Result[Any]:
    return scouts(problem, position, depth, watch, pool=settings.pool)


def _lazy(problem: Problem[Any, Any], position: Any, depth: int, watch: Watch, told: Settings) -> Result[Any]:
    return lazy(problem, position, depth, watch, dynamic=told.dynamic, bound=told.bound, kept=told.kept)


def _lazy_ordered(
    problem: Problem[Any, Any], position: Any, depth: int, watch: Watch, told: Settings
) -> Result[Any]:
    return lazy(
        problem,
        position,
        depth,
        watch,
        ordered=True,
        take=told.take,
        dynamic=told.dynamic,
        bound=told.bound,
        kept=told.kept,
    )


ALGORITHMS: Mapping[str, Algorithm] = {
    "minimax": Algorithm("003; 000", _alone(minimax)),
    "higher-order": Algorithm("002", _alone(higher_order)),
    "negamax": Algorithm("002", _alone(negamax)),
    "one-line": Algorithm("002, its exercise", _alone(one_line)),
    "alphabeta": Algorithm("001, section 5", _alone(alphabeta)),
    "clamped": Algorithm("003", _alone(clamped)),
    "failsoft": Algorithm("Fishburn", _alone(failsoft)),
    "lazy": Algorithm("000", _lazy),
    "lazy-ordered": Algorithm("000, highfirst", _lazy_ordered, leftmost=False, static=True),
    "stack-minimax": Algorithm("004", _alone(stack_minimax), recursive=False),
    "stack-alphabeta": Algorithm("004", _alone(stack_alphabeta), recursive=False),
    "stack-memo": Algorithm(
        "004, memoised",
        _alone(
            lambda problem, position, depth, watch: stack_alphabeta(
                problem, position, depth, watch, memo=True
            )
        ),
        recursive=False,
    ),
    "jamboree": Algorithm("001, section 6", _jamboree, parallel=True),
    "scouts": Algorithm("Joerg and Kuszmaul", _scouts, parallel=True),
}
