"""SVG picture of a map with land, roads and armies, for the web page, link previews, films, files and notebooks.

The layout is the same as that of the function `layOut` in `page/js/boards/geometry.js`. Colours come from CSS classes: on the
page from the styles of its boards, elsewhere from `PICTURE_STYLE`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from html import escape
from typing import NamedTuple

from arena.games.riskless_map import RisklessMap, list_roads
from arena.maps.land import LandGeometry, Outline, load_built_in_land
from arena.maps.layout import Line, Point, find_smallest_territory_distance
from arena.maps.loader import list_built_in_map_names, load_annotated_map
from arena.maps.map_file import AnnotatedMap

# Lengths in pixels, the same as in `page/js/boards/geometry.js`.
PX_BETWEEN_CLOSEST_TERRITORIES = 62.0
"""Distance between the two closest territories, in pixels; less for a map that would exceed MAX_MAP_WIDTH_PX."""
MAX_MAP_WIDTH_PX = 1500.0
"""Maximum width of the map without its margins, in pixels."""
MIN_PICTURE_WIDTH_PX = 300.0
"""Minimum width of the picture, in pixels."""
MARGIN_WITHOUT_LAND_PX = 40.0
"""Width of the empty margin around the map in a picture without land, in pixels."""
MARGIN_AROUND_LAND_PX = 16.0
"""Width of the margin around the land, in pixels."""
ARMY_MARK_RADIUS_PX = 13.0
"""Radius of a territory's mark, the disc or square with its number of armies, in pixels."""

EMPTY_MARK_RADIUS_SHARE = 0.3
"""Radius of the mark of a territory without armies, relative to ARMY_MARK_RADIUS_PX."""
MAXIE_COLOUR, MINNIE_COLOUR = "#1d47c2", "#f59b38"
"""Colours of Maxie's and Minnie's marks."""
PICTURE_STYLE = f"""<style>
.sea {{ fill: #c6dcea }} .coast {{ fill: #ece3cd; stroke: #6f91a8; stroke-width: 4; stroke-linejoin: round }}
.area-of {{ fill: #ece3cd; stroke: #ffffff; stroke-width: 1.4 }} .area-of[data-owner="maxie"] {{ fill: #3a5dc4 }}
.area-of[data-owner="minnie"] {{ fill: url(#hatch) }} .hatch-ground {{ fill: #f4a54d }} .hatch-line {{ stroke: #cf6f0c; stroke-width: 1.6 }}
.road {{ stroke: #141c26; stroke-opacity: .28; stroke-width: 1.4 }}
.ferry {{ stroke: #51606f; stroke-opacity: 1; stroke-width: 1.6; stroke-linecap: round; stroke-dasharray: 5 6 }}
.empty {{ fill: #51606f }} .maxie {{ fill: {MAXIE_COLOUR}; stroke: #ffffff; stroke-width: 2 }}
.minnie {{ fill: {MINNIE_COLOUR}; stroke: #241000; stroke-width: 2 }}
.armies {{ font-size: 12px; font-weight: 700; letter-spacing: -.03em; fill: #ffffff; text-anchor: middle; stroke: none }}
[data-owner="minnie"] > .armies {{ fill: #241000 }}
.move {{ fill: none; stroke: #141c26; stroke-width: 6; stroke-linecap: round; stroke-linejoin: round }}
</style>"""
"""Style sheet with the colours of a map, the same as in the light mode of `page/css/boards.css`."""


@lru_cache(maxsize=8)
def _load_shipped_picture(map_name: str) -> MapPicture:
    return MapPicture(load_annotated_map(map_name), load_built_in_land(map_name))


def make_map_picture(annotated_map: AnnotatedMap) -> MapPicture:
    """Return the picture of a map, with its land if it is a built-in map."""
    built_in = find_built_in_map(annotated_map.map)
    return MapPicture(annotated_map, None) if built_in is None else _load_shipped_picture(built_in.map.name)


def find_built_in_map(map: RisklessMap) -> AnnotatedMap | None:
    """Return the built-in map that has the name, territories, roads and places of `map`; None if there is none.

    The two maps may have different limits, such as the number of armies that wins.
    """
    if map.name not in list_built_in_map_names():
        return None
    annotated_map = load_annotated_map(map.name)
    drawn, built_in = (
        (shown_map.territories, shown_map.neighbours, shown_map.places)
        for shown_map in (map, annotated_map.map)
    )
    return annotated_map if drawn == built_in else None


class _Layout(NamedTuple):
    """Layout of a map in its picture, in pixels.

    scale_px_per_unit           pixels per unit of the map
    width_px, height_px         size of the picture
    origin_x_px, origin_y_px    place in the picture of the map's point (0, 0)
    """

    scale_px_per_unit: float
    width_px: float
    height_px: float
    origin_x_px: float
    origin_y_px: float


@dataclass(frozen=True)
class MapPicture:
    """Picture of a map, with the layout of `layOut` in `page/js/boards/geometry.js`."""

    annotated_map: AnnotatedMap
    land: LandGeometry | None
    """Land of a built-in map; None for other maps, which are drawn as points and roads."""

    @cached_property
    def _layout(self) -> _Layout:
        corners = [
            *self.annotated_map.map.places,
            *(corner for rings in self._territory_areas for ring in rings for corner in ring),
        ]
        xs, ys = zip(*corners, strict=True)
        map_width, map_height = max(xs) - min(xs), max(ys) - min(ys)
        scale = min(
            PX_BETWEEN_CLOSEST_TERRITORIES / find_smallest_territory_distance(self.annotated_map.map),
            MAX_MAP_WIDTH_PX / (map_width or 1.0),
        )
        margin = MARGIN_WITHOUT_LAND_PX if self.land is None else MARGIN_AROUND_LAND_PX
        width = max(MIN_PICTURE_WIDTH_PX, map_width * scale + 2 * margin)
        left = (width - map_width * scale) / 2 - min(xs) * scale
        return _Layout(scale, width, map_height * scale + 2 * margin, left, margin - min(ys) * scale)

    @property
    def _territory_areas(self) -> Sequence[Sequence[Outline]]:
        return () if self.land is None else self.land.cells

    def _to_pixels(self, place: Point) -> Point:
        layout, (x, y) = self._layout, place
        scale = layout.scale_px_per_unit
        return layout.origin_x_px + x * scale, layout.origin_y_px + y * scale

    @property
    def size_px(self) -> tuple[float, float]:
        """Return the width and the height of the picture, in pixels."""
        return self._layout.width_px, self._layout.height_px

    @cached_property
    def army_mark_centres_px(self) -> list[Point]:
        """Return the centre of each territory's mark (disc or square with its armies), as (x, y) in pixels."""
        centres = self.annotated_map.map.places if self.land is None else self.land.mark_centres
        return [self._to_pixels(centre) for centre in centres]

    def render_svg(self, armies: Sequence[int], label: str) -> str:
        """Return the map with its armies, as SVG.

        armies  armies of each territory: positive for Maxie, negative for Minnie, 0 for none
        label   text for screen readers
        """
        width, height = self.size_px
        attributes = f'viewBox="0 0 {width:.1f} {height:.1f}" role="img" aria-label="{escape(label)}"'
        return f'<svg class="map" {attributes}>{self._coast_and_roads_svg}{self._render_area_paths(armies)}{self.render_army_marks(armies)}</svg>'

    @cached_property
    def sea_and_land_svg(self) -> str:
        """Return the sea with the drawn roads, and the land without the colours of its owners, as SVG."""
        width, height = self.size_px
        return f'<rect class="sea" width="{width:.1f}" height="{height:.1f}"/>{self._coast_and_roads_svg}'

    def render_areas(self, armies: Sequence[int], hatch_scale: float = 1.0) -> str:
        """Return all areas in the colours of their owners, as SVG.

        armies       armies of each territory, as in `render_svg`
        hatch_scale  distance between the hatching lines on Minnie's areas, relative to that on the web page
        """
        return f"{_render_hatch_pattern(hatch_scale)}{self._render_area_paths(armies)}"

    def render_army_marks(self, armies: Sequence[int], mark_scale: float = 1.0) -> str:
        """Return the marks of all territories with their armies, as SVG.

        armies      armies of each territory, as in `render_svg`
        mark_scale  size of the marks, relative to those on the web page
        """
        return "".join(
            _render_army_mark(centre, n, mark_scale)
            for centre, n in zip(self.army_mark_centres_px, armies, strict=True)
        )

    def render_arrow(self, source: int, target: int, mark_scale: float) -> str:
        """Return an arrow from the mark of `source` to that of `target`, as SVG; empty if their road wraps around the map.

        mark_scale  size of the marks, relative to those on the web page
        """
        (x1, y1), (x2, y2) = self.army_mark_centres_px[source], self.army_mark_centres_px[target]
        length = math.hypot(x2 - x1, y2 - y1) or 1.0
        if self.annotated_map.wraps and length > self.size_px[0] / 2:
            return ""
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        radius = ARMY_MARK_RADIUS_PX * mark_scale
        tip = x2 - ux * (radius + 6), y2 - uy * (radius + 6)
        sides = [(tip[0] - 12 * ux - s * 8 * uy, tip[1] - 12 * uy + s * 8 * ux) for s in (1, -1)]
        corners = [(x1 + ux * radius, y1 + uy * radius), tip, sides[0], tip, sides[1]]
        return f'<path class="move" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in corners)}"/>'

    @cached_property
    def _area_path_data_by_territory(self) -> list[str]:
        return [self._make_outline_path_data(rings) for rings in self._territory_areas]

    @property
    def _coast_and_roads_svg(self) -> str:
        """Return the drawn roads and, if the map has land, above them the land in a neutral colour, as SVG.

        So a ferry (a road across the sea) is visible from coast to coast.
        """
        css_classes = "road" if self.land is None else "road ferry"
        roads = "".join(
            f'<line class="{css_classes}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
            for source, target in self.drawn_roads
            for (x1, y1), (x2, y2) in self.compute_road_lines(source, target)
        )
        outlines = "".join(self._area_path_data_by_territory)
        return f'{roads}<path class="coast" d="{outlines}"/>' if outlines else roads

    def _render_area_paths(self, armies: Sequence[int]) -> str:
        return "".join(
            f'<path class="area-of" data-owner="{_get_owner_css_class(n)}" d="{d}"/>'
            for n, d in zip(
                armies, self._area_path_data_by_territory, strict=bool(self._area_path_data_by_territory)
            )
        )

    def _make_outline_path_data(self, rings: Sequence[Outline]) -> str:
        outlines = ("L".join(f"{x:.1f} {y:.1f}" for x, y in map(self._to_pixels, ring)) for ring in rings)
        return "".join(f"M{outline}Z" for outline in outlines)

    @property
    def drawn_roads(self) -> list[tuple[int, int]]:
        """Return the roads to draw: on a map with land the ferries, because borders show all other roads; otherwise all roads."""
        return list_roads(self.annotated_map.map) if self.land is None else self.land.ferries

    def compute_road_lines(self, source: int, target: int) -> list[Line]:
        """Return the road between two territories as one line, or as two if it wraps around the map."""
        a, b = sorted((self.army_mark_centres_px[source], self.army_mark_centres_px[target]))
        width = self.size_px[0]
        if not self.annotated_map.wraps or b[0] - a[0] <= width / 2:
            return [(a, b)]
        edge_y = (a[1] + b[1]) / 2
        return [(a, (0.0, edge_y)), ((width, edge_y), b)]


def _render_hatch_pattern(hatch_scale: float) -> str:
    return (
        f'<defs><pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45) scale({hatch_scale:.2f})">'
        '<rect class="hatch-ground" width="7" height="7"/><line class="hatch-line" x1="0" y1="0" x2="0" y2="7"/></pattern></defs>'
    )


def _get_owner_css_class(armies: int) -> str:
    return "maxie" if armies > 0 else "minnie" if armies < 0 else "nobody"


def _render_army_mark(centre: Point, armies: int, mark_scale: float) -> str:
    scale_text = "" if mark_scale == 1 else f" scale({mark_scale:.2f})"
    group_start = f'<g class="spot" data-owner="{_get_owner_css_class(armies)}" transform="translate({centre[0]:.1f} {centre[1]:.1f}){scale_text}">'
    if not armies:
        return f'{group_start}<circle class="empty" r="{EMPTY_MARK_RADIUS_SHARE * ARMY_MARK_RADIUS_PX:.1f}"/></g>'
    side = 1.8 * ARMY_MARK_RADIUS_PX
    square = f'<rect class="minnie" x="{-side / 2:.1f}" y="{-side / 2:.1f}" width="{side:.1f}" height="{side:.1f}" rx="3"/>'
    mark = f'<circle class="maxie" r="{ARMY_MARK_RADIUS_PX:.0f}"/>' if armies > 0 else square
    return f'{group_start}{mark}<text class="armies" y="4.4">{abs(armies)}</text></g>'
