"""Facts about the built-in maps, from sources other than the map files."""

from __future__ import annotations

import json
from math import dist
from pathlib import Path
from typing import Any

import pytest

from arena.games.graph import is_connected, is_simple, is_undirected
from arena.games.riskless import Riskless
from arena.games.riskless_map import list_roads
from arena.lab.balance import StartImbalanceMeter
from arena.maps.layout import compute_road_lines, find_smallest_territory_distance
from arena.maps.loader import list_built_in_map_names, load_annotated_map, load_map
from arena.maps.map_file import AnnotatedMap
from tests.games.setups import random_match

ROOT = Path(__file__).parents[1]
COURSE: dict[str, Any] = json.loads((ROOT / "data" / "course_maps.json").read_text())

every_map = pytest.mark.parametrize(
    "file", [load_annotated_map(name) for name in list_built_in_map_names()], ids=list_built_in_map_names()
)


def degree(name: str, territory: str) -> int:
    map = load_map(name)
    return len(map.neighbours[map.find_territory(territory)])


@every_map
def test_every_map_is_a_simple_connected_undirected_graph(file: AnnotatedMap) -> None:
    graph = file.map.neighbours
    assert is_simple(graph)
    assert is_undirected(graph)
    assert is_connected(graph)


@every_map
def test_continents_share_the_territories_out(file: AnnotatedMap) -> None:
    members = [v for _, each in file.continents for v in each]
    assert sorted(members) == (list(range(file.map.territory_count)) if members else [])


@every_map
def test_players_start_alike_except_for_an_army_more_on_some_territories_of_one(file: AnnotatedMap) -> None:
    armies_of_sides = [[n for n in file.map.start if n > 0], [-n for n in file.map.start if n < 0]]
    fewest = min(map(min, armies_of_sides))
    extra_armies = [sum(armies) - fewest * len(armies) for armies in armies_of_sides]
    assert len(armies_of_sides[0]) == len(armies_of_sides[1])
    assert max(map(max, armies_of_sides)) == fewest + 1
    assert min(extra_armies) == 0 < max(extra_armies)


@every_map
def test_territories_and_roads_do_not_overlap(file: AnnotatedMap) -> None:
    """No road in the picture passes so close to a third territory that it seems to lead there."""
    places, clear = file.map.places, 0.25 * find_smallest_territory_distance(file.map)
    for v, w in list_roads(file.map):
        for a, b in compute_road_lines(file, v, w):
            for u in set(range(file.map.territory_count)) - {v, w}:
                assert measure_distance(places[u], a, b) > clear, [
                    file.map.territories[each] for each in (u, v, w)
                ]


def measure_distance(place: tuple[float, float], a: tuple[float, float], b: tuple[float, float]) -> float:
    """Return the distance of `place` from the line between `a` and `b`."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    along = ((place[0] - a[0]) * dx + (place[1] - a[1]) * dy) / (dx * dx + dy * dy)
    along = min(1.0, max(0.0, along))
    return dist(place, (a[0] + along * dx, a[1] + along * dy))


@every_map
def test_matches_end_before_the_limit(file: AnnotatedMap) -> None:
    """Most matches of random moves, which do not try to win, end before the ply limit."""
    lengths = [len(random_match(Riskless(file.map), seed).moves) for seed in range(5)]
    assert sorted(lengths)[2] < file.map.ply_limit


# the course's


@pytest.mark.parametrize("name", ["m1", "m2"])
def test_the_course_maps_are_the_course_s(name: str) -> None:
    map, known = load_map(name), COURSE[name]
    assert [list(near) for near in map.neighbours] == known["adjacency"]
    assert map.territory_cap == known["territory_cap"]
    assert map.armies_to_win == known["armies_to_win"]
    assert map.ply_limit == 400
    start = [0] * map.territory_count
    start[known["minnie_start"][0]] = -known["minnie_start"][1]
    start[known["maxie_start"][0]] = known["maxie_start"][1]
    assert list(map.start) == start


def test_m2_is_named_by_column_and_row() -> None:
    assert load_map("m2").territories[:5] == ("a1", "b1", "c1", "d1", "a2")
    assert load_map("m2").territories[-1] == "d4"


def test_path4_is_figure_2() -> None:
    map = load_map("path4")
    assert map.territories == ("0", "1", "2", "3")
    assert map.neighbours == ((1,), (0, 2), (1, 3), (2,))
    assert map.start == (2, 0, 0, -3)


# the world


def test_the_world_has_42_territories_83_roads_and_six_continents() -> None:
    file = load_annotated_map("world")
    assert (file.map.territory_count, len(list_roads(file.map))) == (42, 83)
    sizes = {name: len(members) for name, members in file.continents}
    assert sizes == {
        "North America": 9,
        "South America": 4,
        "Europe": 7,
        "Africa": 6,
        "Asia": 12,
        "Australia": 4,
    }


@pytest.mark.parametrize(
    ("continent", "ways_in"),
    [
        ("North America", {"Alaska", "Greenland", "Central America"}),
        ("South America", {"Venezuela", "Brazil"}),
        ("Europe", {"Iceland", "Western Europe", "Southern Europe", "Ukraine"}),
        ("Africa", {"North Africa", "Egypt", "East Africa"}),
        ("Asia", {"Kamchatka", "Ural", "Afghanistan", "Middle East", "Siam"}),
        ("Australia", {"Indonesia"}),
    ],
)
def test_the_continents_have_their_known_ways_in(continent: str, ways_in: set[str]) -> None:
    file = load_annotated_map("world")
    members = dict(file.continents)[continent]
    borders = {v for v in members if set(file.map.neighbours[v]) - set(members)}
    assert {file.map.territories[v] for v in borders} == ways_in


@pytest.mark.parametrize(
    ("territory", "number"),
    [("Argentina", 2), ("Indonesia", 3), ("Kamchatka", 5), ("Ukraine", 6), ("China", 6), ("Middle East", 6)],
)
def test_world_degrees(territory: str, number: int) -> None:
    assert degree("world", territory) == number


def test_the_road_from_alaska_to_kamchatka_wraps_around() -> None:
    file = load_annotated_map("world")
    v, w = file.map.find_territory("Alaska"), file.map.find_territory("Kamchatka")
    assert w in file.map.neighbours[v]
    round_ = [each for each in list_roads(file.map) if len(compute_road_lines(file, *each)) == 2]
    assert round_ == [(v, w)]


# the states


def test_the_usa_has_48_states_and_105_borders() -> None:
    file = load_annotated_map("usa")
    assert (file.map.territory_count, len(list_roads(file.map))) == (48, 105)
    assert list(file.map.territories) == sorted(file.map.territories)
    sizes = {name: len(members) for name, members in file.continents}
    assert sizes == {"Northeast": 9, "Midwest": 12, "South": 16, "West": 11}


@pytest.mark.parametrize(
    ("state", "number"),
    [
        ("Maine", 1),
        ("Florida", 2),
        ("Rhode Island", 2),
        ("South Carolina", 2),
        ("Washington", 2),
        ("Michigan", 3),
        ("California", 3),
        ("Texas", 4),
        ("Utah", 5),
        ("Idaho", 6),
        ("Kentucky", 7),
        ("Missouri", 8),
        ("Tennessee", 8),
    ],
)
def test_usa_degrees(state: str, number: int) -> None:
    assert degree("usa", state) == number


@pytest.mark.parametrize(
    ("one", "other"),
    [("Arizona", "Colorado"), ("Utah", "New Mexico"), ("New York", "Rhode Island"), ("Michigan", "Illinois")],
)
def test_a_corner_or_water_is_no_border(one: str, other: str) -> None:
    map = load_map("usa")
    assert map.find_territory(other) not in map.neighbours[map.find_territory(one)]


# the regions


def test_italy_has_20_regions_and_ferries_to_two_of_them() -> None:
    map = load_map("italy")
    assert (map.territory_count, len(list_roads(map))) == (20, 34)
    assert degree("italy", "Emilia-Romagna") == degree("italy", "Lazio") == 6
    islands = {map.territories[v]: {map.territories[w] for w in map.neighbours[v]} for v in (18, 19)}
    assert islands == {"Sicily": {"Calabria", "Sardinia"}, "Sardinia": {"Tuscany", "Sicily"}}


# fairness


@pytest.mark.parametrize(("name", "each"), [("world", 8), ("usa", 8), ("italy", 4), ("poland", 3)])
def test_the_measured_maps_start_with_sides_that_are_even_on_the_graph(name: str, each: int) -> None:
    map = load_map(name)
    maxie = [v for v, n in enumerate(map.start) if n > 0]
    minnie = [v for v, n in enumerate(map.start) if n < 0]
    assert len(maxie) == len(minnie) == each
    assert StartImbalanceMeter(map.neighbours).compute_imbalance(maxie, minnie) <= 2


@pytest.mark.parametrize("name", ["m1", "m2", "path4", "ring:8", "grid:6x7"])
def test_the_starts_opposite_each_other_are_even(name: str) -> None:
    map = load_map(name)
    maxie = [v for v, n in enumerate(map.start) if n > 0]
    minnie = [v for v, n in enumerate(map.start) if n < 0]
    assert StartImbalanceMeter(map.neighbours).compute_imbalance(maxie, minnie) == 0
