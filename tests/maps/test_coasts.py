"""Generated cells: land belongs to the nearest place, and neighbours on the same land touch."""

from __future__ import annotations

import random
from functools import cache
from itertools import combinations
from math import dist

import pytest
from shapely import LineString, MultiPolygon, Point, Polygon, box, unary_union

from arena.games.riskless_map import list_roads
from arena.maps.land import Outline, load_built_in_land
from arena.maps.layout import compute_road_lines, find_smallest_territory_distance
from arena.maps.loader import list_built_in_map_names, load_annotated_map
from tests.maps.coasts import (
    GRAIN,
    SHORES,
    edges_of,
    ferries_of,
    join_detached,
    lands_of,
    make_cells,
    marks_of,
)

MAX_GIVEN_SHARE = 0.03
"""Share of a map's land that may belong to another place than the nearest one, so that neighbours touch."""


@cache
def made_cells(name: str) -> list[list[Outline]]:
    return make_cells(load_annotated_map(name))


@pytest.mark.parametrize("name", list_built_in_map_names())
def test_each_place_is_in_the_cell_of_its_own_territory_only(name: str) -> None:
    file = load_annotated_map(name)
    areas = [unary_union([Polygon(ring) for ring in rings]) for rings in made_cells(name)]
    unit = find_smallest_territory_distance(file.map)
    for v, place in enumerate(file.map.places):
        assert areas[v].contains(Point(place))
        assert areas[v].distance(Point(place)) == 0
        reach = areas[v].exterior if isinstance(areas[v], Polygon) else areas[v].boundary
        assert reach.distance(Point(place)) > 0.4 * unit, "there is room for its mark"
    whole = unary_union(areas).area
    assert abs(sum(area.area for area in areas) - whole) < 0.02 * whole, "they hardly overlap"


@pytest.mark.parametrize("name", list_built_in_map_names())
def test_land_belongs_to_the_nearest_place_on_it_but_for_the_borders_of_neighbours_that_would_not_touch(
    name: str,
) -> None:
    file, chance = load_annotated_map(name), random.Random(5)
    unit = find_smallest_territory_distance(file.map)
    cells = made_cells(name)
    given, points = 0, 0
    land_of = {v: (n, land) for n, (members, land) in enumerate(lands_of(file, unit)) for v in members}
    for v, rings in enumerate(cells):
        area = Polygon(rings[0])
        left, top, right, bottom = area.bounds
        for _ in range(20):
            point = chance.uniform(left, right), chance.uniform(top, bottom)
            if not area.contains(Point(point)):
                continue
            mine = dist(point, file.map.places[v])
            number, land = land_of[v]
            nearest = min(
                (place for w, place in enumerate(file.map.places) if land_of[w][0] == number),
                key=lambda place: dist(point, place),
            )
            cut_off = not land.covers(LineString([point, nearest]))
            points += 1
            given += not cut_off and mine - dist(point, nearest) > 4 * GRAIN * unit
    assert given <= MAX_GIVEN_SHARE * points


@pytest.mark.parametrize("name", list_built_in_map_names())
def test_a_territory_is_one_piece_apart_from_its_islands(name: str) -> None:
    file, cells = load_annotated_map(name), load_built_in_land(name).cells
    unit = find_smallest_territory_distance(file.map)
    for v, rings in enumerate(cells):
        areas = [Polygon(ring) for ring in rings]
        assert all(area.is_valid for area in areas)
        others = unary_union([Polygon(ring) for w, each in enumerate(cells) if w != v for ring in each])
        for area in areas:
            at_home = area.contains(Point(file.map.places[v]))
            assert at_home or area.distance(others) > 4 * GRAIN * unit


def test_land_without_a_place_belongs_to_the_nearest_place() -> None:
    usa = load_annotated_map("usa")
    unit = find_smallest_territory_distance(usa.map)
    peninsula = Polygon(SHORES["usa"]["Upper Peninsula"]).centroid
    owners = [
        usa.map.territories[v]
        for v, rings in enumerate(made_cells("usa"))
        if any(Polygon(ring).contains(peninsula) for ring in rings)
    ]
    assert owners == ["Michigan"]
    assert [members for members, _ in lands_of(usa, unit)][1:] == [[usa.map.territories.index("Michigan")]]


def test_a_detached_part_joins_the_neighbour_with_the_longest_border_and_an_island_stays() -> None:
    tip, behind_tip, island = box(3, 0, 4, 3), box(4, 0, 5, 1), box(9, 9, 10, 10)
    places = [Point(0.5, 0.5), Point(3.5, 4), Point(2.5, 0.5)]
    cells = [
        MultiPolygon([box(0, 0, 1, 1), tip, island]),
        box(3, 3, 4, 5),
        MultiPolygon([box(2, 0, 3, 2), behind_tip]),
    ]
    joined = join_detached(cells, places, 1)
    assert joined[0].symmetric_difference(unary_union([box(0, 0, 1, 1), island])).area < 0.01
    assert joined[1].symmetric_difference(box(3, 3, 4, 5)).area < 0.01
    assert joined[2].symmetric_difference(unary_union([box(2, 0, 3, 2), tip, behind_tip])).area < 0.01
    assert isinstance(joined[2], Polygon)


@pytest.mark.parametrize("name", sorted(SHORES))
def test_a_road_over_the_sea_is_a_ferry(name: str) -> None:
    file, cells = load_annotated_map(name), made_cells(name)
    lands = unary_union([Polygon(ring).buffer(GRAIN) for rings in cells for ring in rings])
    for v, w in list_roads(file.map):
        crossing = any(
            LineString(line).difference(lands).length > 0.2 * LineString(line).length
            for line in compute_road_lines(file, v, w)
        )
        if crossing and not edges_of(cells[v]) & edges_of(cells[w]):
            assert (v, w) in load_built_in_land(name).ferries


@pytest.mark.parametrize("name", list_built_in_map_names())
def test_a_border_that_can_be_seen_shows_each_road_that_is_no_ferry(name: str) -> None:
    file, land = load_annotated_map(name), load_built_in_land(name)
    unit = find_smallest_territory_distance(file.map)
    edges = [edges_of(rings) for rings in land.cells]
    for v, w in list_roads(file.map):
        length = sum(dist(*edge) for edge in edges[v] & edges[w])
        if (v, w) in land.ferries:
            assert length == 0
        else:
            assert length > 0.2 * unit, (file.map.territories[v], file.map.territories[w])


@pytest.mark.parametrize("name", list_built_in_map_names())
def test_the_cells_that_ship_are_those_of_the_map(name: str) -> None:
    """If this fails after a change of a map's places or continents, run `make cells`."""
    shipped, made = load_built_in_land(name).cells, made_cells(name)
    assert len(shipped) == len(made)
    for old, new in zip(shipped, made, strict=True):
        there, here = (unary_union([Polygon(ring) for ring in rings]) for rings in (old, new))
        # Versions of shapely round corners in different ways.
        assert there.symmetric_difference(here).area < 0.01 * here.area


@pytest.mark.parametrize("name", list_built_in_map_names())
def test_the_ferries_that_ship_are_those_of_the_cells_that_ship(name: str) -> None:
    land = load_built_in_land(name)
    assert land.ferries == ferries_of(load_annotated_map(name), land.cells)


@pytest.mark.parametrize("name", list_built_in_map_names())
def test_the_marks_that_ship_are_centred_in_the_cells_that_ship(name: str) -> None:
    file, land = load_annotated_map(name), load_built_in_land(name)
    unit = find_smallest_territory_distance(file.map)
    for mark, made, rings in zip(land.mark_centres, marks_of(file, land.cells), land.cells, strict=True):
        assert dist(mark, made) < 0.05 * unit
        assert Polygon(rings[0]).exterior.distance(Point(mark)) > 0.4 * unit, "there is room for it"
    assert min(dist(one, other) for one, other in combinations(land.mark_centres, 2)) >= 0.95 * unit
