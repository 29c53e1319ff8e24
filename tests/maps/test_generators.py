from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.graph import is_connected, is_simple, is_undirected
from maps.generators import column, grid, made, ring
from maps.loader import load_map


@settings(max_examples=30, deadline=None)
@given(size=st.integers(3, 60))
def test_a_ring_is_a_cycle(size: int) -> None:
    map = ring(size)
    assert (map.name, map.size) == (f"ring:{size}", size)
    v, seen = 0, []
    while v not in seen:
        seen.append(v)
        v = map.neighbours[v][0]
    assert (v, len(seen)) == (0, size)
    assert is_undirected(map.neighbours)
    assert all(len(near) == 2 for near in map.neighbours)
    assert [v for v, n in enumerate(map.start) if n] == [0, size // 2]


@settings(max_examples=25, deadline=None)
@given(width=st.integers(1, 30), height=st.integers(1, 12))
def test_a_grid_joins_cells_that_touch(width: int, height: int) -> None:
    if width * height < 2:
        return
    map = grid(width, height)
    assert (map.name, map.size) == (f"grid:{width}x{height}", width * height)
    for v, near in enumerate(map.neighbours):
        touching = [
            w for w in range(map.size) if abs(v % width - w % width) + abs(v // width - w // width) == 1
        ]
        assert list(near) == touching, "in the order of their numbers: up, left, right, down"
    assert is_simple(map.neighbours)
    assert is_connected(map.neighbours)
    assert {v: n for v, n in enumerate(map.start) if n} == {0: -2, map.size - 1: 1}
    assert len({name.casefold() for name in map.territories}) == map.size


def test_the_course_maps_are_a_ring_and_a_grid() -> None:
    m1, m2 = load_map("m1"), load_map("m2")
    assert ring(6).neighbours == m1.neighbours
    assert ring(6).start == m1.start
    four = grid(4, 4)
    assert (four.neighbours, four.territories, four.start) == (m2.neighbours, m2.territories, m2.start)
    assert (four.territory_cap, four.armies_to_win, four.ply_limit) == (10, 80, 400)


@pytest.mark.parametrize(
    ("number", "letters"), [(0, "a"), (25, "z"), (26, "aa"), (51, "az"), (701, "zz"), (702, "aaa")]
)
def test_columns_are_lettered_as_in_a_spreadsheet(number: int, letters: str) -> None:
    assert column(number) == letters


@pytest.mark.parametrize("spec", ["ring:3", "ring:1000", "grid:1x2", "grid:1000x1", "grid:40x25"])
def test_the_ends_of_the_range_are_made(spec: str) -> None:
    map = made(spec)
    assert map.name == spec
    assert map.ply_limit >= 10 * map.size
