from __future__ import annotations

from itertools import combinations
from math import dist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.riskless_map import RisklessMap, list_roads
from arena.maps.generators import make_grid_map
from arena.maps.layout import (
    WRAPPED_ROAD_OVERHANG_SHARE_OF_MAP_WIDTH,
    compute_map_extent,
    compute_road_lines,
    find_smallest_territory_distance,
)
from arena.maps.map_file import AnnotatedMap
from tests.games.strategies import riskless_maps


def row(*xs: float, wraps: bool) -> AnnotatedMap:
    """Return a map of territories in a row, at these x coordinates and at the heights 0, 10, 20 …"""
    size = len(xs)
    map = RisklessMap(
        name="row",
        territories=tuple("abcdefgh"[:size]),
        neighbours=tuple(tuple(w for w in (v - 1, v + 1) if 0 <= w < size) for v in range(size)),
        territory_cap=5,
        armies_to_win=5,
        ply_limit=50,
        start=(1, *[0] * (size - 2), -1),
        places=tuple((x, 10.0 * v) for v, x in enumerate(xs)),
    )
    return AnnotatedMap(map, wraps=wraps)


@given(riskless_maps())
def test_each_road_is_listed_once(map: RisklessMap) -> None:
    both = {(v, w) for v, near in enumerate(map.neighbours) for w in near}
    told = list_roads(map)
    assert len(told) == len(set(told)) == len(both) / 2
    assert {*told, *((w, v) for v, w in told)} == both


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=4, max_size=4, unique=True))
def test_the_nearest_pair_is_the_nearest(places: list[tuple[int, int]]) -> None:
    map = make_grid_map(2, 2)
    moved = RisklessMap.from_data({**map.to_data(), "places": [list(place) for place in places]})
    assert find_smallest_territory_distance(moved) == min(dist(a, b) for a, b in combinations(places, 2))


def test_a_road_is_a_straight_line() -> None:
    file = row(0, 30, 100, wraps=False)
    assert compute_road_lines(file, 0, 1) == [((0, 0), (30, 10))]
    assert compute_road_lines(file, 2, 1) == compute_road_lines(file, 1, 2) == [((30, 10), (100, 20))]
    assert (compute_map_extent(file).left, compute_map_extent(file).right) == (0, 100)


def test_a_long_road_wraps_around_if_the_map_does() -> None:
    file = row(0, 30, 100, wraps=True)
    edge = compute_map_extent(file)
    assert (edge.left, edge.right) == (
        -100 * WRAPPED_ROAD_OVERHANG_SHARE_OF_MAP_WIDTH,
        100 + 100 * WRAPPED_ROAD_OVERHANG_SHARE_OF_MAP_WIDTH,
    )
    assert compute_road_lines(file, 0, 1) == [((0, 0), (30, 10))]
    west, east = compute_road_lines(file, 1, 2)
    assert (west[0], east[1]) == ((30, 10), (100, 20))
    assert (west[1][0], east[0][0]) == (edge.left, edge.right)
    # Both ends at the edge have the same height: that of the straight line through the edge.
    assert west[1][1] == east[0][1] == pytest.approx(10 + 10 * 35 / 40)
