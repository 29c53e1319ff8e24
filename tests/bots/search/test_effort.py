"""bots.search.effort: which search visits no more leaves than which."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given

from bots.search.algorithms import ALGORITHMS, Settings
from bots.search.pool import Pool
from bots.search.watch import Watch
from tests.bots.search.problems import Case, cases
from tests.properties import examples

POOLS = [Pool(threads) for threads in (1, 2, 3, 4)]


@pytest.fixture(scope="module", autouse=True)
def _closed_pools() -> Iterator[None]:
    yield
    for pool in POOLS:
        pool.close()


def run(
    name: str, case: Case, pool: Pool, prune: float = 0.5, *, tracing: bool = False
) -> tuple[object, Watch]:
    watch = Watch(tracing=tracing)
    return ALGORITHMS[name].run(case.problem, case.position, case.depth, watch, Settings(pool, prune)), watch


@given(case=cases)
@examples(80)
def test_effort(case: Case) -> None:
    leaves, nodes = {}, {}
    for name in ALGORITHMS:
        _, watch = run(name, case, POOLS[0])
        leaves[name], nodes[name] = watch.leaves, watch.nodes
    assert leaves["alphabeta"] <= leaves["lazy"] <= leaves["minimax"]
    assert leaves["stack-memo"] <= leaves["alphabeta"]
    same = ["minimax", "higher-order", "negamax", "stack-minimax"]
    assert len({nodes[name] for name in same}) == 1
    same = ["alphabeta", "clamped", "failsoft", "stack-alphabeta"]
    assert len({nodes[name] for name in same}) == 1
