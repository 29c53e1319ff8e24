"""Makes the cells of the shipped maps: `python -m arena.lab.coasts`, or `make cells`, after a change of places or continents.

A territory's cell is what is nearer to its place than to any other (a Voronoi diagram), as far as it is land. Land is what
lies near the places and the roads of a continent; where a map has no continents, of all of it. The geometry is shapely's,
which only who develops needs: what it makes lies in `cells/`, and `maps.cells` reads it.
"""

from __future__ import annotations

import json
from itertools import pairwise

from shapely import LineString, MultiPoint, Point, Polygon, unary_union, voronoi_polygons
from shapely.geometry.base import BaseGeometry

from arena.maps.cells import FOLDER, Ring
from arena.maps.layout import lines, nearest_pair, roads
from arena.maps.loader import load_file, map_names
from arena.maps.mapfile import MapFile

COAST = 0.62
"""How far land reaches from a place, in distances of the two closest places."""
SHOULDER = 0.42
"""How far it reaches from a road inside a continent, in the same unit."""
BAY = 0.9
"""Water between two shores of one continent that is narrower than twice this is land, in the same unit."""
GRAIN = 0.01
"""How exactly corners are given, in the same unit."""


def main() -> None:
    """Write the cells of each shipped map."""
    FOLDER.mkdir(exist_ok=True)
    for name in map_names():
        lines = ",\n".join(json.dumps(rings, separators=(",", ":")) for rings in make_cells(load_file(name)))
        (FOLDER / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def make_cells(file: MapFile) -> list[list[Ring]]:
    """For each territory the areas of its cell, largest first; each has one at the least.

    O(V log V + E) for V territories and E roads, some tens of milliseconds for the largest shipped map.
    """
    places = [Point(place) for place in file.map.places]
    unit = nearest_pair(file.map)
    around = Point(0, 0).buffer(unit) if len(places) < 2 else MultiPoint(places).buffer(4 * unit)
    nearest = voronoi_polygons(MultiPoint(places), extend_to=around, ordered=True).geoms
    found: list[list[Ring]] = [[] for _ in places]
    for members in _groups(file):
        land = _land(file, members, unit)
        for territory in members:
            found[territory] = _rings(nearest[territory].intersection(land), unit)
    return found


def _groups(file: MapFile) -> list[list[int]]:
    """The continents, and the territories that are in none."""
    groups = [list(members) for _, members in file.continents]
    taken = {territory for members in groups for territory in members}
    rest = [territory for territory in range(len(file.map.places)) if territory not in taken]
    return [*groups, rest] if rest else groups


def _land(file: MapFile, members: list[int], unit: float) -> BaseGeometry:
    inside = set(members)
    shores: list[BaseGeometry] = [Point(file.map.places[each]).buffer(COAST * unit) for each in members]
    for v, w in roads(file.map):
        if v in inside and w in inside:
            shores += [LineString(line).buffer(SHOULDER * unit) for line in lines(file, v, w)]
    # Grown and shrunk again, narrow bays and lakes are closed.
    return unary_union(shores).buffer(BAY * unit).buffer(-BAY * unit)


def _rings(area: BaseGeometry, unit: float) -> list[Ring]:
    parts = [part for part in getattr(area, "geoms", [area]) if isinstance(part, Polygon)]
    simple = [part.simplify(2 * GRAIN * unit) for part in sorted(parts, key=lambda part: -part.area)]
    return [_corners(part, unit) for part in simple if not part.is_empty]


def _corners(area: Polygon, unit: float) -> Ring:
    grain = GRAIN * unit
    rounded = [(round(x / grain) * grain, round(y / grain) * grain) for x, y in area.exterior.coords]
    return [(round(a[0], 4), round(a[1], 4)) for a, b in pairwise(rounded) if a != b]


if __name__ == "__main__":
    main()
