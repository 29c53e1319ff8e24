from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.graph import Graph
from arena.games.riskless_map import RisklessMap
from arena.lab.balance import StartBalancer, compute_all_distances
from arena.maps.generators import make_grid_map, make_ring_map
from tests.games.strategies import riskless_maps
from tests.properties import examples


def by_rounds(graph: Graph) -> list[list[int]]:
    """Return distances by Floyd and Warshall's rounds: slow and plain."""
    size = len(graph)
    far = [[0 if v == w else 1 if w in graph[v] else size for w in range(size)] for v in range(size)]
    for middle in range(size):
        for v in range(size):
            for w in range(size):
                far[v][w] = min(far[v][w], far[v][middle] + far[middle][w])
    return far


@given(riskless_maps())
def test_distances_count_the_moves(map: RisklessMap) -> None:
    assert compute_all_distances(map.neighbours) == by_rounds(map.neighbours)


@given(map=riskless_maps(), data=st.data())
def test_imbalance_does_not_know_the_sides(map: RisklessMap, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(map.size)))
    each = data.draw(st.integers(1, map.size // 2))
    one, other = order[:each], order[each : 2 * each]
    balance = StartBalancer(map.neighbours)
    assert balance.compute_imbalance(one, other) == balance.compute_imbalance(other, one) >= 0
    assert balance.compute_imbalance(one, one) == 0


@given(size=st.integers(2, 12), data=st.data())
def test_starts_that_are_images_of_each_other_are_even(size: int, data: st.DataObject) -> None:
    graph = make_ring_map(2 * size).neighbours
    side = data.draw(st.sets(st.integers(0, size - 1), min_size=1))
    turned = [v + size for v in side]
    assert StartBalancer(graph).compute_imbalance(sorted(side), turned) == 0


def test_a_corner_against_the_middle_is_not_even() -> None:
    # Two roads against four; from the corner 2, 3, 2, 1 cells at distances 1 to 4, from the middle 4, 4;
    # three cells are nearer to the middle (itself, and two more), the corner has itself only.
    graph = make_grid_map(3, 3).neighbours
    corner, middle = [0], [4]
    assert StartBalancer(graph).compute_imbalance(corner, middle) >= 2 + 2
    assert StartBalancer(graph).compute_imbalance(corner, [8]) == 0


@examples(8)
@given(width=st.integers(4, 5), height=st.integers(4, 6), each=st.integers(1, 3))
def test_a_proposal_keeps_its_territories_apart(width: int, height: int, each: int) -> None:
    balance = StartBalancer(make_grid_map(width, height).neighbours)
    maxie, minnie = balance.propose_start(each)
    chosen = (*maxie, *minnie)
    assert len(set(chosen)) == 2 * each
    assert all(balance.distances[a][b] > 1 for a in chosen for b in chosen if a != b)
    assert min(chosen) in maxie
    assert balance.propose_start(each) == (maxie, minnie), "the same graph gives the same start"


def test_on_an_even_ground_the_proposal_is_even() -> None:
    balance = StartBalancer(make_grid_map(5, 5).neighbours)
    assert balance.compute_imbalance(*balance.propose_start(3)) == 0


def test_too_many_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"found no 4 pairwise non-adjacent territories \(2 for each side\)"):
        StartBalancer(make_ring_map(6).neighbours).propose_start(2)
