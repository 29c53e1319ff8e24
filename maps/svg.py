"""A map as an SVG file: the picture of `maps.picture` with the names of its territories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import product

from arena.maps.layout import Extent, Line, Point
from arena.maps.map_file import AnnotatedMap
from arena.maps.picture import ARMY_MARK_RADIUS_PX, PICTURE_STYLE, MapPicture, make_map_picture

MARGIN_FOR_NAMES_PX = 40.0
"""Width of the margin around the picture into which names may reach, in pixels."""
MIN_NAME_CLEARANCE_PX = 5.0
"""Minimum distance of a name from the marks of other territories, in pixels."""
NAME_FONT_SIZE_PX = 11.0
NAME_LETTER_WIDTH_PX = 0.56 * NAME_FONT_SIZE_PX
"""Assumed mean width of a letter, in pixels, from which the width of a name is estimated."""
NAMES_STYLE = """<style>
.name, .armies { font-family: system-ui, "DejaVu Sans", sans-serif }
.name { font-size: 11px; fill: #1f2933; text-anchor: middle; paint-order: stroke; stroke: #ffffff; stroke-width: 3px; stroke-linejoin: round }
</style>"""


def render_map_svg(annotated_map: AnnotatedMap, armies: Sequence[int] | None = None) -> str:
    """Return the map as an SVG document.

    armies  armies of each territory: positive for Maxie, negative for Minnie; by default the armies at the start
    """
    armies = annotated_map.map.start if armies is None else armies
    picture = make_map_picture(annotated_map)
    width, height = (length + 2 * MARGIN_FOR_NAMES_PX for length in picture.size_px)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img">',
        f"<title>{escape(annotated_map.map.name)}</title>",
        f"<desc>{escape(annotated_map.description)}</desc>",
        PICTURE_STYLE,
        NAMES_STYLE,
        '<rect class="sea" width="100%" height="100%"/>',
        f'<g transform="translate({MARGIN_FOR_NAMES_PX:.0f} {MARGIN_FOR_NAMES_PX:.0f})">',
        picture.sea_and_land_svg,
        picture.render_areas(armies),
        picture.render_army_marks(armies),
        *_render_name_labels(picture),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _render_name_labels(picture: MapPicture) -> Iterator[str]:
    """Yield the SVG of each territory's name, placed where the name hides least, with the continent as its tooltip."""
    clearance = ARMY_MARK_RADIUS_PX + MIN_NAME_CLEARANCE_PX
    mark_boxes = [
        Extent(x - clearance, y - clearance, x + clearance, y + clearance)
        for x, y in picture.army_mark_centres_px
    ]
    lines = [
        line
        for territory, neighbour in picture.drawn_roads
        for line in picture.compute_road_lines(territory, neighbour)
    ]
    continent_by_territory = {
        territory: name for name, members in picture.annotated_map.continents for territory in members
    }
    name_boxes: list[Extent] = []
    for territory, name in enumerate(picture.annotated_map.map.territories):
        boxes = _list_possible_label_boxes(
            picture.army_mark_centres_px[territory], len(name) * NAME_LETTER_WIDTH_PX
        )
        enclosing_box = _find_enclosing_box(boxes)
        nearby_boxes = [
            other
            for other in (*mark_boxes[:territory], *mark_boxes[territory + 1 :], *name_boxes)
            if _compute_overlap_cost(enclosing_box, other)
        ]
        nearby_lines = [line for line in lines if _crosses_box(line, enclosing_box)]
        box = min(
            boxes, key=lambda box: _compute_label_cost(box, nearby_boxes, nearby_lines, picture.size_px[0])
        )
        name_boxes.append(box)
        title = (
            f"<title>{escape(continent_by_territory[territory])}</title>"
            if territory in continent_by_territory
            else ""
        )
        x, y = (box.left + box.right) / 2, box.bottom - 0.2 * NAME_FONT_SIZE_PX
        yield f'<text class="name" x="{x:.1f}" y="{y:.1f}">{escape(name)}{title}</text>'


def _list_possible_label_boxes(mark_centre: Point, label_width: float) -> list[Extent]:
    """Return the possible boxes for a name of `label_width` pixels: below, above, right and left of a mark, and diagonally."""
    x, y = mark_centre
    gap, height = ARMY_MARK_RADIUS_PX + 3, 1.15 * NAME_FONT_SIZE_PX
    centres = [(x, y + gap + height / 2), (x, y - gap - height / 2)]
    centres += [(x + gap + label_width / 2, y), (x - gap - label_width / 2, y)]
    centres += [
        (x + sx * (0.7 * gap + label_width / 2), y + sy * (gap + height / 2))
        for sy, sx in product((1, -1), (1, -1))
    ]
    return [
        Extent(a - label_width / 2, b - height / 2, a + label_width / 2, b + height / 2) for a, b in centres
    ]


def _compute_label_cost(
    box: Extent, occupied_boxes: Sequence[Extent], road_lines: Sequence[Line], picture_width: float
) -> float:
    """Return the cost of the place `box` for a name. A low cost is good.

    occupied_boxes  boxes of marks and other names; inside the picture, overlaps with them cost most
    road_lines      roads, which a name may cross at a low cost
    picture_width   width of the picture; a name that reaches beyond the margin around the picture costs more than any overlap
    """
    is_outside = box.left < 2 - MARGIN_FOR_NAMES_PX or box.right > picture_width + MARGIN_FOR_NAMES_PX - 2
    covered_area = sum(_compute_overlap_cost(box, other) for other in occupied_boxes)
    crossing_count = sum(_crosses_box(line, box) for line in road_lines)
    return 1000.0 * is_outside + 20 * covered_area + crossing_count


def _find_enclosing_box(boxes: Sequence[Extent]) -> Extent:
    return Extent(
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )


def _compute_overlap_cost(a: Extent, b: Extent) -> float:
    """Return the cost of an overlap of two boxes: 1 plus the share of `a` that `b` covers; 0 if the boxes are disjoint."""
    overlap_width = min(a.right, b.right) - max(a.left, b.left)
    overlap_height = min(a.bottom, b.bottom) - max(a.top, b.top)
    if overlap_width <= 0 or overlap_height <= 0:
        return 0.0
    return 1 + overlap_width * overlap_height / (a.width * a.height)


def _crosses_box(line: Line, box: Extent) -> bool:
    """Return True if some point of the line lies in the box or on its edge."""
    (x1, y1), (x2, y2) = line
    low, high = 0.0, 1.0
    for start, step, least, most in (
        (x1, x2 - x1, box.left, box.right),
        (y1, y2 - y1, box.top, box.bottom),
    ):
        if step == 0:
            if not least <= start <= most:
                return False
            continue
        ends = sorted(((least - start) / step, (most - start) / step))
        low, high = max(low, ends[0]), min(high, ends[1])
    return low <= high
