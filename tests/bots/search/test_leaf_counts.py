from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.search.algorithms import ALGORITHMS
from arena.bots.search.leaf_counts import LeafCountComparison
from tests.bots.search.problems import Case, cases
from tests.bots.search.running import POOLS, run
from tests.properties import examples


@given(case=cases)
@examples(80)
def test_numbers_of_leaves_of_the_algorithms(case: Case) -> None:
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


@given(st.integers(1, 9), st.integers(0, 5), st.integers(1, 8))
def test_a_uniform_tree_has_its_number_of_children_as_branching_factor(
    children: int, reached: int, depth: int
) -> None:
    counts = [children**ply for ply in range(1, reached + 1)]
    comparison = LeafCountComparison({"minimax": counts}, max_leaves=9**5, max_depth=5)
    if reached == 0:
        assert comparison.compute_branching_factor(depth) is None
        assert comparison.compute_expected_leaf_count(depth, 1) is None
        return
    assert comparison.compute_branching_factor(depth) == pytest.approx(children)
    assert comparison.compute_expected_leaf_count(depth, 1) == children**depth
    assert comparison.compute_expected_leaf_count(depth, 1 / 2) == round(children ** (depth / 2))
