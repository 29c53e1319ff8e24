"""Helpers that run reference algorithms on test problems, with pools of threads."""

from __future__ import annotations

from typing import Any

from arena.bots.search.algorithms import ALGORITHMS, AlgorithmSettings
from arena.bots.search.minimax import minimax
from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.search_values import to_root_value
from arena.bots.search.thread_pool import ThreadPool
from tests.bots.search.problems import Case

POOLS = [ThreadPool(threads) for threads in (1, 2, 3, 4)]
"""Thread pools for all tests of this folder. They are closed at the end of the test run."""


def run(
    name: str, case: Case, pool: ThreadPool, prune: float = 0.5, *, tracing: bool = False
) -> tuple[object, SearchMonitor]:
    monitor = SearchMonitor(tracing=tracing)
    return ALGORITHMS[name].run(
        case.problem, case.position, case.depth, monitor, AlgorithmSettings(pool, prune)
    ), monitor


def compute_true_value(case: Case, position: Any, distance: int, depth: int) -> int:
    """Return the minimax value, relative to the root, of a node `distance` plies below the root of a search to `depth`."""
    return to_root_value(minimax(case.problem, position, depth - distance).value, distance)


def compute_true_move_value(case: Case, move: Any, depth: int) -> int:
    """Return the minimax value of a root move."""
    return compute_true_value(case, case.game.successor(case.position, move), 1, depth)
