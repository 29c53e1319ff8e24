"""Generator of the cells of the built-in maps. Run `make cells` after a change of places or continents.

The cell of a territory is all land that is nearer to its place than to any other place on the same piece of land (a
Voronoi diagram). If water separates a part of a cell from its place, this part joins the neighbour with which it shares
the longest border. If the cells of two neighbours on one piece of land then do not touch, the land between them is
divided, so that a border shows each road that does not cross the sea.

The land of a map that shows a part of the world is drawn by hand (`tests/data/shores.json`). A piece of such land
without a place belongs to the place nearest to its centroid. The land of any other map is the area near the places and
roads of each continent, or of the whole map.

The geometry comes from the library shapely, which only developers need. The results are files in `maps/cells`, which
`maps.land` reads.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from shapely import LineString, MultiPoint, Point, Polygon, coverage_simplify, unary_union, voronoi_polygons
from shapely.affinity import scale
from shapely.geometry.base import BaseGeometry
from shapely.ops import nearest_points, polygonize, polylabel

from arena.games.riskless_map import list_roads
from arena.maps.land import LAND_FOLDER, Outline
from arena.maps.layout import compute_road_lines, find_smallest_territory_distance
from arena.maps.loader import list_built_in_map_names, load_annotated_map
from arena.maps.map_file import AnnotatedMap

Shape = list[tuple[float, float]]
SHORES: dict[str, dict[str, Shape]] = json.loads(
    (Path(__file__).parents[1] / "data" / "shores.json").read_text(encoding="utf-8")
)
"""Pieces of land by map and name, each as its corners in order, in the units of the map's places."""

COAST = 0.62
"""Extent of land around a place, in units of the distance of the two closest places."""
SHOULDER = 0.42
"""Extent of land around a road inside a continent, in the unit of COAST."""
BAY = 0.9
"""Half of the width up to which water between two shores of one continent becomes land, in the unit of COAST."""
ROOM = 0.46
"""Minimum extent of land drawn by hand around a place, in the unit of COAST."""
GRAIN = 0.01
"""Precision of corners, in the unit of COAST."""
GAP = 0.001
"""Half of the width up to which a gap between two cells is closed, in the unit of COAST. Rounded corners cause such gaps."""
BORDER = 0.5
"""Length of the border that neighbours get whose cells do not touch, in the unit of COAST."""
LEAST_BORDER = 0.36
"""Length of a border from which on it stays as it is, in the unit of COAST."""
NEARLY = 0.2
"""Distance of two cells up to which they nearly touch, in the unit of COAST."""
ROUNDS = 6
"""Number of times that borders are made, because one may shorten another."""
SMOOTH = 0.05
"""Square root of the area up to which three successive corners become two, in the unit of COAST."""

WIDTH_OF_TEXT = 1.4
"""Width that a number with a name below it needs, relative to its height."""
CENTRED = 0.9
"""Minimum distance of a centred mark from the border of its area, relative to the largest distance possible in the area."""


def main() -> None:
    """Write the cells of each built-in map."""
    LAND_FOLDER.mkdir(exist_ok=True)
    for name in list_built_in_map_names():
        file = load_annotated_map(name)
        cells = make_cells(file)
        lines = ",\n".join(json.dumps(rings, separators=(",", ":")) for rings in cells)
        ferries = json.dumps(ferries_of(file, cells), separators=(",", ":"))
        marks = json.dumps(marks_of(file, cells), separators=(",", ":"))
        (LAND_FOLDER / f"{name}.json").write_text(
            f'{{"cells": [\n{lines}\n],\n"ferries": {ferries},\n"marks": {marks}}}\n', encoding="utf-8"
        )


def make_cells(file: AnnotatedMap) -> list[list[Outline]]:
    """Return the areas of each territory's cell, at least one, the largest first.

    O(V log V + E) for V territories and E roads, some tens of milliseconds for the largest built-in map.
    """
    places = [Point(place) for place in file.map.places]
    unit = find_smallest_territory_distance(file.map)
    found: list[list[Outline]] = [[] for _ in places]
    for members, land in lands_of(file, unit):
        own = [places[each] for each in members]
        around = land.buffer(unit)
        nearest = voronoi_polygons(MultiPoint(own), extend_to=around, ordered=True).geoms
        cells = [cell.intersection(land) for cell in (nearest if len(own) > 1 else [around])]
        cells = join_neighbours(
            join_detached(cells, own, unit), own, _list_inner_roads(file, members, land), land, unit
        )
        for territory, cell in zip(members, _simplified(cells, unit), strict=True):
            found[territory] += _rings(cell, unit)
    return found


def join_detached(cells: list[BaseGeometry], places: list[Point], unit: float) -> list[BaseGeometry]:
    """Return the cells of one piece of land, after each part detached from its place has joined a neighbour.

    A part joins the neighbour with which it shares the longest border. A part without neighbours is an island and stays.
    """
    parts = [sorted(_parts(cell), key=place.distance) for cell, place in zip(cells, places, strict=True)]
    joined: list[BaseGeometry] = [home for home, *_ in parts]
    detached = [(v, part) for v, (_, *others) in enumerate(parts) for part in others]
    gap = GAP * unit
    while detached:
        borders = [
            (part.buffer(gap).intersection(joined[w].boundary).length, n, w)
            for n, (v, part) in enumerate(detached)
            for w in range(len(joined))
            if w != v
        ]
        border, n, w = max(borders, default=(0.0, 0, 0))
        if border == 0:
            break
        _, part = detached.pop(n)
        # Growing and shrinking the shape closes the gap where the two met.
        joined[w] = (
            unary_union([joined[w], part]).buffer(gap, join_style="mitre").buffer(-gap, join_style="mitre")
        )
    for v, island in detached:
        joined[v] = unary_union([joined[v], island])
    return joined


def join_neighbours(
    cells: list[BaseGeometry],
    places: list[Point],
    roads: list[tuple[int, int]],
    land: BaseGeometry,
    unit: float,
) -> list[BaseGeometry]:
    """Return the cells of one piece of land, after all neighbours whose cells did not touch have got a common border.

    roads  pairs of neighbours, as positions in `cells`
    """
    for _ in range(ROUNDS):
        for v, w in roads:
            if _border_length(cells[v], cells[w], unit) < LEAST_BORDER * unit:
                others = [place.buffer(ROOM * unit) for n, place in enumerate(places) if n not in (v, w)]
                free = land.difference(unary_union(others))
                parts = dict(
                    zip(
                        (v, w),
                        _divide_between(cells[v], cells[w], places[v], places[w], free, unit),
                        strict=True,
                    )
                )
                taken = unary_union(list(parts.values()))
                rest = [cell.difference(taken) for cell in cells]
                cells = [
                    unary_union([*_parts(cell), *_parts(parts.get(n, Polygon()))])
                    for n, cell in enumerate(rest)
                ]
        cells = join_detached(cells, places, unit)
    return cells


def _border_length(one: BaseGeometry, other: BaseGeometry, unit: float) -> float:
    near = other.buffer(GAP * unit)
    return one.boundary.intersection(near).length if one.intersects(near) else 0.0


def _divide_between(
    one: BaseGeometry, other: BaseGeometry, place: Point, other_place: Point, land: BaseGeometry, unit: float
) -> list[BaseGeometry]:
    """Return the two parts of the land between two cells that the one and the other get, so that they meet at a border of BORDER units.

    place, other_place  places of the territories, which give the direction where the cells nearly touch
    land                land that the two may get
    """
    start, end = nearest_points(one, other)
    if start.distance(end) < GAP * unit:
        start = end = one.buffer(GAP * unit).intersection(other).centroid
    a, b = (start, end) if start.distance(end) > NEARLY * unit else (place, other_place)
    x, y = (start.x + end.x) / 2, (start.y + end.y) / 2
    ahead_x, ahead_y = (b.x - a.x) / a.distance(b), (b.y - a.y) / a.distance(b)

    def point(ahead: float, aside: float) -> tuple[float, float]:
        """Return the point so many units ahead, on the way to the other cell, and to the left of the middle."""
        return x + unit * (ahead * ahead_x - aside * ahead_y), y + unit * (ahead * ahead_y + aside * ahead_x)

    # At a coast, the border is inland of the middle.
    borders = [
        LineString([point(0, aside - BORDER / 2), point(0, aside + BORDER / 2)])
        for aside in (0.0, BORDER / 2, -BORDER / 2)
    ]
    border = max(borders, key=lambda each: round(each.intersection(land).length / (GRAIN * unit)))
    between = unary_union(
        [
            unary_union([border, cell.intersection(corner.buffer(BORDER * unit))]).convex_hull
            for cell, corner in ((one, start), (other, end))
        ]
    ).intersection(land)
    far = between.length / unit + BORDER
    return [
        between.intersection(Polygon([point(0, -far), point(0, far), point(way, far), point(way, -far)]))
        for way in (-far, far)
    ]


def _list_inner_roads(file: AnnotatedMap, members: list[int], land: BaseGeometry) -> list[tuple[int, int]]:
    """Return the roads on one piece of land, as positions in `members`: those that do not leave it."""
    land = land.buffer(GAP * find_smallest_territory_distance(file.map))
    return [
        (members.index(v), members.index(w))
        for v, w in list_roads(file.map)
        if v in members and w in members and _stays_on(land, file, v, w)
    ]


def _stays_on(land: BaseGeometry, file: AnnotatedMap, v: int, w: int) -> bool:
    return all(land.covers(LineString(line)) for line in compute_road_lines(file, v, w))


def ferries_of(file: AnnotatedMap, cells: list[list[Outline]]) -> list[tuple[int, int]]:
    """Return the roads that leave the land and whose territories have no common border, each with the lower number first."""
    land = unary_union([Polygon(ring) for rings in cells for ring in rings])
    land = land.buffer(GAP * find_smallest_territory_distance(file.map))
    return [
        (v, w)
        for v, w in list_roads(file.map)
        if not edges_of(cells[v]) & edges_of(cells[w]) and not _stays_on(land, file, v, w)
    ]


def edges_of(rings: list[Outline]) -> set[frozenset[tuple[float, float]]]:
    """Return the edges of a territory's areas, each as its two ends."""
    return {frozenset(ends) for ring in rings for ends in pairwise([*ring, ring[0]])}


def marks_of(file: AnnotatedMap, cells: list[list[Outline]]) -> list[tuple[float, float]]:
    """Return the centre of each territory's mark, centred in its largest area.

    The centre is the first point that is centred on the way from the territory's place to the middle of the area.
    """
    unit = find_smallest_territory_distance(file.map)
    found = []
    for (x, y), rings in zip(file.map.places, cells, strict=True):
        area = scale(Polygon(rings[0]), 1 / WIDTH_OF_TEXT, 1, origin=(0, 0))
        place, middle = Point(x / WIDTH_OF_TEXT, y), polylabel(area, GRAIN * unit)
        way = LineString([place, middle])
        points = (
            (way.interpolate(share / 10, normalized=True) for share in range(11))
            if way.length
            else iter([place])
        )
        least = CENTRED * area.exterior.distance(middle)
        mark = next(
            point for point in points if area.contains(point) and area.exterior.distance(point) >= least
        )
        found.append((round(mark.x * WIDTH_OF_TEXT, 4), round(mark.y, 4)))
    return found


def lands_of(file: AnnotatedMap, unit: float) -> list[tuple[list[int], BaseGeometry]]:
    """Return the territories and the shape of each piece of land.

    unit  distance of the two closest places
    """
    if file.map.name not in SHORES:
        return [(members, _land(file, members, unit)) for members in _groups(file)]
    shapes = [Polygon(_rounded(shape)) for shape in SHORES[file.map.name].values()]
    members: list[list[int]] = [[] for _ in shapes]
    for territory, place in enumerate(file.map.places):
        distances = [shape.distance(Point(place)) for shape in shapes]
        members[distances.index(min(distances))].append(territory)
    rooms = [[Point(file.map.places[each]).buffer(ROOM * unit) for each in group] for group in members]
    for shape, group in zip(shapes, members, strict=True):
        if not group:
            group.append(_find_nearest(file, shape.centroid))
    return [
        (group, unary_union([shape, *room]))
        for shape, group, room in zip(shapes, members, rooms, strict=True)
    ]


def _find_nearest(file: AnnotatedMap, point: Point) -> int:
    places = file.map.places
    return min(range(len(places)), key=lambda each: point.distance(Point(places[each])))


def _rounded(corners: Shape) -> Shape:
    """Return a shape with rounded corners: each corner is cut off twice (Chaikin's algorithm)."""
    for _ in range(2):
        corners = [
            (a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share)
            for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)
            for share in (0.25, 0.75)
        ]
    return corners


def _groups(file: AnnotatedMap) -> list[list[int]]:
    """Return the territories of each continent, and those outside all continents as one more group."""
    groups = [list(members) for _, members in file.continents]
    taken = {territory for members in groups for territory in members}
    rest = [territory for territory in range(len(file.map.places)) if territory not in taken]
    return [*groups, rest] if rest else groups


def _land(file: AnnotatedMap, members: list[int], unit: float) -> BaseGeometry:
    inside = set(members)
    shores: list[BaseGeometry] = [Point(file.map.places[each]).buffer(COAST * unit) for each in members]
    for v, w in list_roads(file.map):
        if v in inside and w in inside:
            shores += [LineString(line).buffer(SHOULDER * unit) for line in compute_road_lines(file, v, w)]
    # Growing and shrinking the shape closes narrow bays and lakes.
    return unary_union(shores).buffer(BAY * unit).buffer(-BAY * unit)


def _parts(area: BaseGeometry) -> list[Polygon]:
    return [part for part in getattr(area, "geoms", [area]) if isinstance(part, Polygon)]


def _simplified(cells: list[BaseGeometry], unit: float) -> list[BaseGeometry]:
    """Return the cells with fewer corners, all on a grid of GRAIN units, so that two neighbours have the same edges at their border."""
    edges = unary_union([cell.boundary for cell in cells], grid_size=GRAIN * unit)
    parts: list[list[Polygon]] = [[] for _ in cells]
    for face in polygonize(edges):
        shares = [cell.intersection(face).area for cell in cells]
        if max(shares) > face.area / 2:
            parts[shares.index(max(shares))].append(face)
    return list(coverage_simplify([unary_union(each) for each in parts], SMOOTH * unit))


def _rings(area: BaseGeometry, unit: float) -> list[Outline]:
    return [
        _corners(part, unit)
        for part in sorted(_parts(area), key=lambda part: -part.area)
        if not part.is_empty
    ]


def _corners(area: Polygon, unit: float) -> Outline:
    grain = GRAIN * unit
    rounded = [(round(x / grain) * grain, round(y / grain) * grain) for x, y in area.exterior.coords]
    return [(round(a[0], 4), round(a[1], 4)) for a, b in pairwise(rounded) if a != b]


if __name__ == "__main__":
    main()
