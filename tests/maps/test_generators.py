from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.graph import is_connected, is_simple, is_undirected
from arena.games.riskless_map import RisklessMap
from arena.maps.generators import (
    MINNIE_EXTRA_ARMIES_BY_MAP,
    generate_map,
    make_column_letters,
    make_grid_map,
    make_ring_map,
)
from arena.maps.loader import load_map
from tests.properties import examples


@examples(30)
@given(size=st.integers(3, 60))
def test_a_ring_is_a_cycle(size: int) -> None:
    map = make_ring_map(size)
    assert (map.name, map.territory_count) == (f"ring:{size}", size)
    v, seen = 0, []
    while v not in seen:
        seen.append(v)
        v = map.neighbours[v][0]
    assert (v, len(seen)) == (0, size)
    assert is_undirected(map.neighbours)
    assert all(len(near) == 2 for near in map.neighbours)
    held = [v for v, n in enumerate(map.start) if n]
    sides = [map.start[v] > 0 for v in held]
    assert sides == [number % 2 == 1 for number in range(len(held))], "in turn, from Minnie's"
    gaps = {(after - before) % size for before, after in zip(held, held[1:] + held[:1], strict=True)}
    assert max(gaps) - min(gaps) <= 1, "spread evenly"
    check_numbers(map, sum(MINNIE_EXTRA_ARMIES_BY_MAP.get(map.name, ())) or max(1, len(held) // 4))


@examples(25)
@given(width=st.integers(1, 30), height=st.integers(1, 12))
def test_a_grid_joins_cells_that_touch(width: int, height: int) -> None:
    if width * height < 2:
        return
    map = make_grid_map(width, height)
    assert (map.name, map.territory_count) == (f"grid:{width}x{height}", width * height)
    for v, near in enumerate(map.neighbours):
        touching = [
            w
            for w in range(map.territory_count)
            if abs(v % width - w % width) + abs(v // width - w // width) == 1
        ]
        assert list(near) == touching, "in the order of their numbers: up, left, right, down"
    assert is_simple(map.neighbours)
    assert is_connected(map.neighbours)
    sides = [(n > 0) - (n < 0) for n in map.start]
    assert sides == [-side for side in reversed(sides)], "half a turn shows each side the other's"
    extras = MINNIE_EXTRA_ARMIES_BY_MAP.get(map.name, (1,))
    minnies = [n for n in map.start if n < 0]
    assert [-2 - n for n in minnies] == [*extras, *[0] * (len(minnies) - len(extras))], "on the first of hers"
    check_numbers(map, sum(extras))
    assert len({name.casefold() for name in map.territories}) == map.territory_count


def check_numbers(map: RisklessMap, extra: int = 1) -> None:
    """Check that both players have equally many territories, Minnie has `extra` more armies, and the goal is a quarter of all armies."""
    maxie = [n for n in map.start if n > 0]
    minnie = [-n for n in map.start if n < 0]
    assert len(maxie) == len(minnie)
    assert sum(minnie) == sum(maxie) + extra
    assert set(maxie) == {2}
    assert map.armies_to_win == map.territory_cap * map.territory_count // 4


def test_the_course_maps_are_a_ring_and_a_grid() -> None:
    m1, m2 = load_map("m1"), load_map("m2")
    assert make_ring_map(6).neighbours == m1.neighbours
    four = make_grid_map(4, 4)
    assert (four.neighbours, four.territories) == (m2.neighbours, m2.territories)


@pytest.mark.parametrize(
    ("spec", "armies"),
    [
        ("ring:8", [3, 2]),
        ("ring:12", [5, 2]),
        ("ring:16", [3, 2, 2]),
        ("ring:20", [3, 2, 3, 2]),
        ("ring:24", [3, 2, 3, 2, 3]),
        ("ring:32", [3, 2, 3, 2, 3, 2]),
        ("grid:4x4", [6, 2, 2]),
        ("grid:5x5", [6, 2, 2, 2, 2]),
        ("grid:6x6", [3, 3, 2, 2, 2, 2, 2]),
        ("grid:8x8", [3, 2, 3, *[2] * 10]),
    ],
)
def test_minnies_extra_armies_make_the_seats_even(spec: str, armies: list[int]) -> None:
    assert [-n for n in generate_map(spec).start if n < 0] == armies


@pytest.mark.parametrize("spec", ["ring:8", "ring:20", "ring:60", "grid:4x4", "grid:7x6", "grid:10x10"])
def test_two_fifths_of_the_territories_are_held_at_the_start(spec: str) -> None:
    map = generate_map(spec)
    assert sum(n != 0 for n in map.start) == pytest.approx(0.4 * map.territory_count, abs=2)


@pytest.mark.parametrize(
    ("number", "letters"), [(0, "a"), (25, "z"), (26, "aa"), (51, "az"), (701, "zz"), (702, "aaa")]
)
def test_columns_are_lettered_as_in_a_spreadsheet(number: int, letters: str) -> None:
    assert make_column_letters(number) == letters


@pytest.mark.parametrize("spec", ["ring:3", "ring:1000", "grid:1x2", "grid:1000x1", "grid:40x25"])
def test_the_ends_of_the_range_are_made(spec: str) -> None:
    map = generate_map(spec)
    assert map.name == spec
    assert map.ply_limit >= 10 * map.territory_count
