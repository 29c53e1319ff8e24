"""Random planar maps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.graph import is_connected, is_simple, is_undirected
from arena.lab.planar import planar
from tests.maps.test_generators import check_numbers
from tests.properties import examples


@examples(15)
@given(size=st.integers(5, 40), number=st.integers(0, 1000))
def test_a_random_planar_map_can_be_drawn_without_crossings(size: int, number: int) -> None:
    map = planar(size, number)
    assert map == planar(size, number)
    assert (map.name, map.size) == (f"planar:{size}:{number}", size)
    assert is_simple(map.neighbours)
    assert is_undirected(map.neighbours)
    assert is_connected(map.neighbours)
    roads = [(v, w) for v, near in enumerate(map.neighbours) for w in near if v < w]
    for i, (a, b) in enumerate(roads):
        for c, d in roads[:i]:
            assert len({a, b, c, d}) < 4 or not cross(*(map.places[v] for v in (a, b, c, d)))
    held = [v for v, n in enumerate(map.start) if n]
    assert not any(w in map.neighbours[v] for v in held for w in held), "no two of them adjacent"
    check_numbers(map)


def test_a_random_planar_map_has_bounds() -> None:
    with pytest.raises(ValueError, match="5 to 64 territories, not 65"):
        planar(65, 1)


Place = tuple[float, float]


def cross(a: Place, b: Place, c: Place, d: Place) -> bool:
    """Whether the lines from a to b and from c to d cross."""

    def side(p: Place, q: Place, r: Place) -> bool:
        return (q[0] - p[0]) * (r[1] - p[1]) > (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) != side(a, b, d) and side(c, d, a) != side(c, d, b)
