"""Maps on which the weights of an evaluator are learned and measured: variants of any map, and random planar maps.

A variant has another cap (the most armies on a territory) or another goal (the number of armies that wins). Names of maps:

    world                   the map that `maps.loader` finds under this name
    world:cap=20            the same map with another cap; the goal stays the same share of all armies that fit on the map
    world:cap=20,goal=150   the same map with another cap and another goal
    planar:24:7             the 7th random planar map of 24 territories; :cap=N,goal=N can follow

`arena tune` learns weights from matches on TRAINING_MAPS by default. The strength of weights is measured on
HELD_OUT_MAPS, none of which is a training map. HELD_OUT_MAPS are half of the built-in maps, and rings, grids and planar maps
of other sizes, each with a cap of 12, of 40 and of 120.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from arena.games.riskless_map import BadMap, RisklessMap
from arena.lab.balance import StartImbalanceMeter
from arena.maps.generators import GRID_TERRITORY_CAP, MAP_TERRITORIES_PER_START_TERRITORY, assemble_map
from arena.maps.loader import MapError, load_map

MAP_VARIANT_NAME_FORM = "NAME[:cap=N][,goal=N], as in ring:12:cap=40 or planar:24:7:cap=20,goal=90"
"""Form of a map's name with another cap (most armies on a territory) or goal (armies that win), for error messages."""
PLANAR_MAP_NAME_PREFIX = "planar:"

TRAINING_MAPS = (
    "m2",
    "usa",
    "poland",
    "ring:8:cap=30",
    "ring:12",
    "grid:4x4:cap=10",
    "grid:5x5:cap=200",
    "grid:7x6",
    "planar:12:1:cap=20",
    "planar:20:2:cap=100",
    "planar:30:3:cap=14",
    "planar:44:4:cap=60,goal=880",
)
HELD_OUT_MAPS = (
    "m1",
    "italy",
    "world",
    *(
        f"{graph}:cap={cap}"
        for graph in ("ring:10", "ring:18", "grid:5x4", "grid:8x5", "planar:16:101", "planar:36:102")
        for cap in (12, 40, 120)
    ),
)


def load_map_variant(variant_name: str) -> RisklessMap:
    """Return the map that `variant_name` describes, in a form that the module docstring lists.

    Raises MapError if `variant_name` describes no map.
    """
    base, colon, numbers = variant_name.rpartition(":")
    if "=" not in numbers or numbers.endswith(".toml"):
        return _load_base_map(variant_name)
    if not colon:
        raise MapError(
            f"{variant_name:.60}: no such map; for a map with other limits, write {MAP_VARIANT_NAME_FORM}"
        )
    new_values = {}
    for part in numbers.split(","):
        key, _, number = part.partition("=")
        if key not in ("cap", "goal") or key in new_values or not (number.isascii() and number.isdecimal()):
            problem = f"is a second {key}" if key in new_values else "is not cap=N or goal=N"
            raise MapError(f"{variant_name:.60}: {part:.20} {problem}; write {MAP_VARIANT_NAME_FORM}")
        new_values[key] = int(number)
    try:
        return replace(
            _replace_cap_and_goal(_load_base_map(base), new_values.get("cap"), new_values.get("goal")),
            name=variant_name,
        )
    except BadMap as error:
        raise MapError(f"{variant_name:.60}: {error}") from None


def _replace_cap_and_goal(map: RisklessMap, cap: int | None, goal: int | None) -> RisklessMap:
    """Return the map with another cap or goal. Raises BadMap if the map cannot have them.

    If `cap` is None, the map keeps its cap. If `goal` is None, the goal stays the same share of all armies that fit on the
    map.
    """
    if cap is None and goal is None:
        return map
    cap = map.territory_cap if cap is None else cap
    # Rounded up, so that the goal is never below its share and no start has won already.
    scaled_goal = -(-map.armies_to_win * cap // map.territory_cap)
    return replace(map, territory_cap=cap, armies_to_win=scaled_goal if goal is None else goal)


def _load_base_map(map_name: str) -> RisklessMap:
    if not map_name.startswith(PLANAR_MAP_NAME_PREFIX):
        return load_map(map_name)
    size, _, number = map_name.removeprefix(PLANAR_MAP_NAME_PREFIX).partition(":")
    if not all(text.isascii() and text.isdecimal() and len(text) <= 6 for text in (size, number)):
        raise MapError(
            f"{map_name:.60}: no such map; a random planar map is planar:SIZE:NUMBER, as in planar:24:7"
        )
    try:
        return make_planar_map(int(size), int(number))
    except ValueError as error:
        raise MapError(f"{map_name:.60} is not a possible map: {error}") from None


PLANAR_MAP_TERRITORY_COUNTS = range(5, 65)
"""Allowed numbers of territories of a random planar map."""
PLANAR_MAP_WIDTH, PLANAR_MAP_HEIGHT = 100, 60
"""Size of the rectangle in which the territories of a random planar map lie, in units of map coordinates."""
RANDOM_STARTS_PER_PLANAR_MAP = 100
"""Number of random starts that are tried for a random planar map. The fairest of them is used."""


def make_planar_map(territory_count: int, map_number: int) -> RisklessMap:
    """Return random planar map number `map_number` of `territory_count` territories (5 to 64).

    The map is a Gabriel graph of random points: two points are joined if the disc whose diameter is the line between
    them contains no third point (Gabriel and Sokal 1969). Such a graph is planar and connected, and each territory has
    about 3.5 roads. Servers do not offer these maps to clients, because it takes O(n³) time to generate n territories.
    Raises ValueError for another number of territories.
    """
    if territory_count not in PLANAR_MAP_TERRITORY_COUNTS:
        raise ValueError(
            f"a random planar map must have {PLANAR_MAP_TERRITORY_COUNTS[0]} to {PLANAR_MAP_TERRITORY_COUNTS[-1]} territories, not {territory_count}"
        )
    rng = random.Random(f"planar {territory_count} {map_number}")
    places = [
        (round(rng.uniform(0, PLANAR_MAP_WIDTH), 2), round(rng.uniform(0, PLANAR_MAP_HEIGHT), 2))
        for _ in range(territory_count)
    ]
    neighbours = tuple(
        tuple(
            other_territory
            for other_territory in range(territory_count)
            if other_territory != territory and _is_gabriel_edge(places, territory, other_territory)
        )
        for territory in range(territory_count)
    )
    maxie, minnie = _choose_fair_start(
        neighbours, max(1, round(territory_count / MAP_TERRITORIES_PER_START_TERRITORY)), rng
    )
    return assemble_map(
        f"planar:{territory_count}:{map_number}",
        territories=tuple(map(str, range(territory_count))),
        neighbours=neighbours,
        territory_cap=GRID_TERRITORY_CAP,
        minnie_territories=minnie,
        maxie_territories=maxie,
        places=tuple(places),
    )


def _is_gabriel_edge(
    places: Sequence[tuple[float, float]], first_place_index: int, second_place_index: int
) -> bool:
    """Return True if the disc whose diameter is the line between two of the points contains no other point."""
    (x, y), (a, b) = places[first_place_index], places[second_place_index]
    return all(
        (p - x) * (p - a) + (q - y) * (q - b) >= 0
        for point, (p, q) in enumerate(places)
        if point not in (first_place_index, second_place_index)
    )


def _choose_fair_start(
    neighbours: Sequence[Sequence[int]], territories_per_side: int, rng: random.Random
) -> tuple[Sequence[int], Sequence[int]]:
    """Return the fairest of RANDOM_STARTS_PER_PLANAR_MAP random starts: Maxie's and Minnie's territories.

    Each side has at most `territories_per_side` territories, and no two territories of the start are adjacent.
    """
    imbalance_meter = StartImbalanceMeter(neighbours)
    starts = []
    for _ in range(RANDOM_STARTS_PER_PLANAR_MAP):
        chosen: list[int] = []
        for territory in rng.sample(range(len(neighbours)), len(neighbours)):
            if len(chosen) < 2 * territories_per_side and not set(neighbours[territory]) & set(chosen):
                chosen.append(territory)
        side_size = len(chosen) // 2
        sides = sorted(chosen[:side_size]), sorted(chosen[side_size : 2 * side_size])
        starts.append((-side_size, imbalance_meter.compute_imbalance(*sides), sides))
    return min(starts)[2]
