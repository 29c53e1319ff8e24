"""Geometry of a map, in its own units: its extent, the lines of its roads, and the distance between its closest territories."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import dist

from arena.games.riskless_map import RisklessMap
from arena.maps.map_file import AnnotatedMap

Point = tuple[float, float]
Line = tuple[Point, Point]

WRAPPED_ROAD_OVERHANG_SHARE_OF_MAP_WIDTH = 0.05
"""Horizontal length by which a wrapped road is drawn beyond the leftmost and beyond the rightmost territory of the map.

The length is a fraction of the horizontal distance between these two territories. A wrapped road leaves the picture at one
side and enters at the other.
"""


@dataclass(frozen=True)
class Extent:
    """Rectangle with horizontal and vertical sides, in the unit of a map or of a picture. y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top


def compute_map_extent(annotated_map: AnnotatedMap) -> Extent:
    """Return the smallest rectangle that contains all territories, and the ends of the roads that leave the picture at a
    side.
    """
    xs, ys = zip(*annotated_map.map.places, strict=True)
    overhang = WRAPPED_ROAD_OVERHANG_SHARE_OF_MAP_WIDTH * (max(xs) - min(xs)) if annotated_map.wraps else 0.0
    return Extent(min(xs) - overhang, min(ys), max(xs) + overhang, max(ys))


def compute_road_lines(annotated_map: AnnotatedMap, source: int, target: int) -> list[Line]:
    """Return the road between two territories: one straight line, or two if the road wraps around the picture.

    A road that wraps around leaves the picture on one side and enters on the other.
    """
    west, east = sorted((annotated_map.map.places[source], annotated_map.map.places[target]))
    if not annotated_map.wraps:
        return [(west, east)]
    extent = compute_map_extent(annotated_map)
    if east[0] - west[0] <= extent.width / 2:
        return [(west, east)]
    # The height at which the road crosses the edge; the left and the right edge are the same line.
    west_gap, east_gap = west[0] - extent.left, extent.right - east[0]
    edge_y = west[1] + (east[1] - west[1]) * west_gap / (west_gap + east_gap)
    return [(west, (extent.left, edge_y)), ((extent.right, edge_y), east)]


def find_smallest_territory_distance(map: RisklessMap) -> float:
    """Return the distance between the two closest territories. Takes O(V²) time at worst, O(V log V) on usual maps, for V
    territories.
    """
    sorted_places = sorted(map.places)
    smallest_distance = min(dist(a, b) for a, b in pairwise(sorted_places))
    for i, a in enumerate(sorted_places):
        for b in sorted_places[i + 1 :]:
            if b[0] - a[0] >= smallest_distance:
                break
            smallest_distance = min(smallest_distance, dist(a, b))
    return smallest_distance
