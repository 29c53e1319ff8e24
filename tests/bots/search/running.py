"""One run of an algorithm on a problem, as the tests of this folder make it."""

from __future__ import annotations

from arena.bots.search.algorithms import ALGORITHMS, Settings
from arena.bots.search.pool import Pool
from arena.bots.search.watch import Watch
from tests.bots.search.problems import Case


def run(
    name: str, case: Case, pool: Pool, prune: float = 0.5, *, tracing: bool = False
) -> tuple[object, Watch]:
    watch = Watch(tracing=tracing)
    return ALGORITHMS[name].run(case.problem, case.position, case.depth, watch, Settings(pool, prune)), watch
