"""Runs of algorithms on problems, and pools of threads for them."""

from __future__ import annotations

from arena.bots.search.algorithms import ALGORITHMS, AlgorithmSettings
from arena.bots.search.minimax import minimax
from arena.bots.search.monitor import NodeExited, SearchMonitor
from arena.bots.search.search_values import to_root_value
from arena.bots.search.thread_pool import ThreadPool
from tests.bots.search.problems import Case

POOLS = [ThreadPool(threads) for threads in (1, 2, 3, 4)]
"""Pools for all tests of this folder, which are closed at the end of the run."""


def run(
    name: str, case: Case, pool: ThreadPool, prune: float = 0.5, *, tracing: bool = False
) -> tuple[object, SearchMonitor]:
    monitor = SearchMonitor(tracing=tracing)
    return ALGORITHMS[name].run(
        case.problem, case.position, case.depth, monitor, AlgorithmSettings(pool, prune)
    ), monitor


def true_value(case: Case, event: NodeExited) -> int:
    """Return the minimax value of a visited node, counted from the root of the search."""
    monitor = SearchMonitor()
    distance = len(event.path)
    value = minimax(case.problem, event.position, case.depth - distance, monitor).value
    return to_root_value(value, distance)
