"""One run of an algorithm on a problem, as the tests of this folder make it."""

from __future__ import annotations

from arena.bots.search.algorithms import ALGORITHMS, AlgorithmSettings
from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.thread_pool import ThreadPool
from tests.bots.search.problems import Case


def run(
    name: str, case: Case, pool: ThreadPool, prune: float = 0.5, *, tracing: bool = False
) -> tuple[object, SearchMonitor]:
    monitor = SearchMonitor(tracing=tracing)
    return ALGORITHMS[name].run(
        case.problem, case.position, case.depth, monitor, AlgorithmSettings(pool, prune)
    ), monitor
