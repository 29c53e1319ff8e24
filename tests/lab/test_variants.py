"""Maps with another cap or goal, random planar maps, and the sets of maps for learning and measuring."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.compiled.availability import has_compiled_search
from arena.games.graph import is_connected, is_simple, is_undirected
from arena.games.riskless import Riskless
from arena.lab.variants import HELD_OUT_MAPS, TRAINING_MAPS, load_map_variant, make_planar_map
from arena.maps.loader import MapError, list_built_in_map_names, load_map
from tests.maps.test_generators import check_numbers
from tests.properties import examples


def test_a_map_with_another_cap_or_goal() -> None:
    world = load_map("world")
    assert load_map_variant("world") is world
    small = load_map_variant("world:cap=25")
    assert (small.name, small.territory_cap, small.armies_to_win) == ("world:cap=25", 25, 225)
    assert small.neighbours == world.neighbours
    assert load_map_variant("world:goal=300").armies_to_win == 300
    ring = load_map_variant("ring:12:cap=40,goal=99")
    assert (ring.territory_count, ring.territory_cap, ring.armies_to_win) == (12, 40, 99)
    assert load_map_variant("planar:12:3:cap=20").neighbours == load_map_variant("planar:12:3").neighbours


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nowhere", "no such map"),
        ("world:cap=x", "cap=x is not cap=N or goal=N"),
        ("world:size=3", "size=3 is not cap=N or goal=N"),
        ("world:cap=3,cap=4", "cap=4 is a second cap"),
        ("cap=3", "for a map with other limits, write NAME"),
        ("world:cap=0", "territory_cap"),
        ("planar:12", "a random planar map is planar:SIZE:NUMBER"),
        ("planar:2:1", "5 to 64 territories, not 2"),
    ],
)
def test_a_mistake_gives_an_error_that_says_why(name: str, why: str) -> None:
    with pytest.raises(MapError, match=why):
        load_map_variant(name)


def test_no_map_is_both_learned_from_and_held_out() -> None:
    learned, held = (
        {load_map_variant(name).neighbours for name in names} for names in (TRAINING_MAPS, HELD_OUT_MAPS)
    )
    assert not learned & held
    assert all(
        has_compiled_search(Riskless(load_map_variant(name))) for name in (*TRAINING_MAPS, *HELD_OUT_MAPS)
    )
    shipped = set(list_built_in_map_names()) & set(HELD_OUT_MAPS)
    assert len(shipped) >= len(list_built_in_map_names()) // 2
    for kind in ("ring", "grid", "planar"):
        graphs = [load_map_variant(name).neighbours for name in HELD_OUT_MAPS if name.startswith(kind)]
        assert all(graphs.count(each) == 3 for each in graphs), "with three caps each"


@examples(15)
@given(size=st.integers(5, 40), number=st.integers(0, 1000))
def test_a_random_planar_map_can_be_drawn_without_crossings(size: int, number: int) -> None:
    map = make_planar_map(size, number)
    assert map == make_planar_map(size, number)
    assert (map.name, map.territory_count) == (f"planar:{size}:{number}", size)
    assert is_simple(map.neighbours)
    assert is_undirected(map.neighbours)
    assert is_connected(map.neighbours)
    roads = [(v, w) for v, near in enumerate(map.neighbours) for w in near if v < w]
    for i, (a, b) in enumerate(roads):
        for c, d in roads[:i]:
            assert len({a, b, c, d}) < 4 or not do_lines_cross(*(map.places[v] for v in (a, b, c, d)))
    held = [v for v, n in enumerate(map.start) if n]
    assert not any(w in map.neighbours[v] for v in held for w in held), "no two of them adjacent"
    check_numbers(map)


def test_a_random_planar_map_has_a_minimum_and_a_maximum_size() -> None:
    with pytest.raises(ValueError, match="5 to 64 territories, not 65"):
        make_planar_map(65, 1)


Place = tuple[float, float]


def do_lines_cross(a: Place, b: Place, c: Place, d: Place) -> bool:
    """Return True if the line from a to b crosses the line from c to d."""

    def side(p: Place, q: Place, r: Place) -> bool:
        return (q[0] - p[0]) * (r[1] - p[1]) > (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) != side(a, b, d) and side(c, d, a) != side(c, d, b)
