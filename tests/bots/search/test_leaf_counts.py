"""bots.search.leaf_counts: searches ordered by the leaves that they visit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given

from arena.bots.search.algorithms import ALGORITHMS
from arena.bots.search.thread_pool import ThreadPool
from tests.bots.search.problems import Case, cases
from tests.bots.search.running import run
from tests.properties import examples

POOLS = [ThreadPool(threads) for threads in (1, 2, 3, 4)]


@pytest.fixture(scope="module", autouse=True)
def _closed_pools() -> Iterator[None]:
    yield
    for pool in POOLS:
        pool.close()


@given(case=cases)
@examples(80)
def test_effort(case: Case) -> None:
    leaves, nodes = {}, {}
    for name in ALGORITHMS:
        _, monitor = run(name, case, POOLS[0])
        leaves[name], nodes[name] = monitor.leaves, monitor.nodes
    assert leaves["alphabeta"] <= leaves["lazy"] <= leaves["minimax"]
    assert leaves["stack-memo"] <= leaves["alphabeta"]
    same = ["minimax", "higher-order", "negamax", "stack-minimax"]
    assert len({nodes[name] for name in same}) == 1
    same = ["alphabeta", "clamped", "failsoft", "stack-alphabeta"]
    assert len({nodes[name] for name in same}) == 1
