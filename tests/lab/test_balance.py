from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.games.graph import Graph
from arena.games.riskless_map import RisklessMap
from arena.lab.balance import StartImbalanceMeter, compute_all_distances
from arena.maps.generators import make_grid_map, make_ring_map
from tests.games.strategies import riskless_maps


def compute_distances_by_rounds(graph: Graph) -> list[list[int]]:
    """Return all distances, computed by the algorithm of Floyd and Warshall."""
    size = len(graph)
    far = [[0 if v == w else 1 if w in graph[v] else size for w in range(size)] for v in range(size)]
    for middle in range(size):
        for v in range(size):
            for w in range(size):
                far[v][w] = min(far[v][w], far[v][middle] + far[middle][w])
    return far


@given(riskless_maps())
def test_distances_count_the_moves(map: RisklessMap) -> None:
    assert compute_all_distances(map.neighbours) == compute_distances_by_rounds(map.neighbours)


@given(map=riskless_maps(), data=st.data())
def test_imbalance_is_the_same_with_exchanged_sides(map: RisklessMap, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(map.territory_count)))
    each = data.draw(st.integers(1, map.territory_count // 2))
    one, other = order[:each], order[each : 2 * each]
    balance = StartImbalanceMeter(map.neighbours)
    assert balance.compute_imbalance(one, other) == balance.compute_imbalance(other, one) >= 0
    assert balance.compute_imbalance(one, one) == 0


@given(size=st.integers(2, 12), data=st.data())
def test_starts_that_are_images_of_each_other_are_even(size: int, data: st.DataObject) -> None:
    graph = make_ring_map(2 * size).neighbours
    side = data.draw(st.sets(st.integers(0, size - 1), min_size=1))
    turned = [v + size for v in side]
    assert StartImbalanceMeter(graph).compute_imbalance(sorted(side), turned) == 0


def test_a_corner_against_the_middle_is_not_even() -> None:
    # The corner has two roads, the middle four. From the corner 2, 3, 2 and 1 cells are at distances 1 to 4, and from the
    # middle 4 and 4 at distances 1 and 2.
    graph = make_grid_map(3, 3).neighbours
    corner, middle = [0], [4]
    assert StartImbalanceMeter(graph).compute_imbalance(corner, middle) >= 2 + 2
    assert StartImbalanceMeter(graph).compute_imbalance(corner, [8]) == 0
