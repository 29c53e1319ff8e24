"""The automorphisms of graphs: those that are known, and that they are a group that keeps the roads."""

from itertools import permutations
from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.maps.generators import grid, ring
from arena.maps.loader import load_map
from arena.solved.symmetry import MOST, automorphisms


@pytest.mark.parametrize(
    ("map", "group"),
    [("path4", 2), ("m1", 12), ("ring:7", 14), ("ring:8", 16), ("grid:2x4", 4), ("grid:3x3", 8)],
)
def test_the_groups_of_known_graphs(map: str, group: int) -> None:
    assert len(automorphisms(load_map(map).neighbours)) == group


@st.composite
def graphs(draw: st.DrawFn) -> tuple[tuple[int, ...], ...]:
    size = draw(st.integers(2, 6))
    pairs = [(v, w) for v in range(size) for w in range(v)]
    chosen = draw(st.sets(st.sampled_from(pairs)))
    return tuple(tuple(w for w in range(size) if (v, w) in chosen or (w, v) in chosen) for v in range(size))


@given(graphs())
def test_they_are_all_permutations_that_keep_the_roads(graph: tuple[tuple[int, ...], ...]) -> None:
    roads = {(v, w) for v, near in enumerate(graph) for w in near}
    every = [
        each for each in permutations(range(len(graph))) if {(each[v], each[w]) for v, w in roads} == roads
    ]
    assert list(automorphisms(graph)) == every


def test_too_large_a_group_is_cut_to_a_group() -> None:
    size = 9
    complete = tuple(tuple(w for w in range(size) if w != v) for v in range(size))
    found = set(automorphisms(complete))
    assert len(found) == factorial(7) <= MOST < factorial(8)
    some = sorted(found)[:: len(found) // 40]
    assert all(tuple(one[v] for v in two) in found for one in some for two in some)


def test_a_long_ring_takes_no_time() -> None:
    assert len(automorphisms(ring(200).neighbours)) == 400
    assert len(automorphisms(grid(20, 10).neighbours)) == 4
