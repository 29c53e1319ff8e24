"""A map as an SVG file, readable on light and dark backgrounds, in colour and without.

Maxie's territories are blue circles, Minnie's orange squares, and empty ones small and hollow. Each mark shows
its armies. Continents are background tints. All colours are in one style sheet with a dark variant.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import cycle, product

from arena.maps.layout import Extent, Line, Point, extent, lines, nearest_pair, roads
from arena.maps.mapfile import MapFile

APART = 62.0
"""Distance between the two closest territories, in pixels, if the width allows it."""
WIDEST, NARROWEST = 1600.0, 440.0
RADIUS = 13.0
HOLLOW = 0.6 * RADIUS
"""Radius of an empty territory's mark."""
MARGIN = 48.0
MIN_CLEARANCE = 5.0
"""Minimum distance of a name from the marks of other territories."""
FONT = 11.0
LETTER = 0.56 * FONT
"""Assumed width of a letter, by which labels are placed."""

TINTS = ("#e0a100", "#d9485f", "#3b82f6", "#a0623a", "#2f9e44", "#9c4dcc", "#0c9aa6", "#76808f")

STYLE = """
    text { font: 11px system-ui, "DejaVu Sans", sans-serif; fill: #1f2933; }
    .ground { fill: #ffffff; }
    .road { stroke: #9aa5b1; stroke-width: 2; stroke-linecap: round; }
    .tint { opacity: 0.16; }
    .name { paint-order: stroke; stroke: #ffffff; stroke-width: 3px; stroke-linejoin: round; }
    .armies { fill: #ffffff; font-weight: 700; font-size: 13px; text-anchor: middle; }
    .empty { fill: #ffffff; stroke: #7b8794; stroke-width: 2; }
    .maxie { fill: #1d4ed8; stroke: #ffffff; stroke-width: 2; }
    .minnie { fill: #c2410c; stroke: #ffffff; stroke-width: 2; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e4e7eb; }
      .ground { fill: #16191d; }
      .road { stroke: #616e7c; }
      .tint { opacity: 0.26; }
      .name { stroke: #16191d; }
      .empty { fill: #16191d; stroke: #9aa5b1; }
      .maxie { fill: #2f62e8; stroke: #16191d; }
      .minnie { fill: #d4500f; stroke: #16191d; }
      .armies { fill: #ffffff; }
    }
"""


def draw_svg(file: MapFile, armies: Sequence[int] | None = None) -> str:
    """Return the map as an SVG document. `armies` are signed, as in a position, and by default the armies of the start."""
    return _Picture(file, file.map.start if armies is None else armies).document()


class _Picture:
    def __init__(self, file: MapFile, armies: Sequence[int]) -> None:
        self.file = file
        self.map = file.map
        self.armies = armies
        edge = extent(file)
        wide = edge.width or 1.0
        self.scale = min(APART / nearest_pair(file.map), WIDEST / wide)
        self.edge = edge
        self.width = max(NARROWEST, edge.width * self.scale + 2 * MARGIN)
        self.left = (self.width - edge.width * self.scale) / 2
        self.drawn_height = edge.height * self.scale + 2 * MARGIN
        self.places = [self._to_pixels(place) for place in file.map.places]
        self.lines = [
            (self._to_pixels(a), self._to_pixels(b)) for v, w in roads(file.map) for a, b in lines(file, v, w)
        ]

    def _to_pixels(self, place: Point) -> Point:
        return (
            self.left + (place[0] - self.edge.left) * self.scale,
            MARGIN + (place[1] - self.edge.top) * self.scale,
        )

    def document(self) -> str:
        legend, legend_height = self._legend()
        size = (round(self.width), round(self.drawn_height + legend_height))
        box = f'width="{size[0]}" height="{size[1]}"'
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" {box} role="img">',
            f"  <title>{escape(self.map.name)}</title>",
            f"  <desc>{escape(self.file.description)}</desc>",
            f"  <style>{STYLE}  </style>",
            f'  <rect class="ground" {box}/>',
            *self.continents(),
            *(_line(line, 'class="road"') for line in self.lines),
            *(self._territory(v) for v in range(self.map.size)),
            *self.names(),
            *legend,
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def continents(self) -> list[str]:
        parts = []
        for tint, (name, members) in zip(cycle(TINTS), self.file.continents, strict=False):
            parts.append(f'  <g class="tint" stroke="{tint}" fill="{tint}" stroke-linecap="round">')
            parts.append(f"    <title>{escape(name)}</title>")
            inside = [(v, w) for v, w in roads(self.map) if v in members and w in members]
            for v, w in inside:
                for a, b in lines(self.file, v, w):
                    parts.append(
                        _line((self._to_pixels(a), self._to_pixels(b)), f'stroke-width="{3 * RADIUS:.0f}"')
                    )
            for v in members:
                x, y = self.places[v]
                parts.append(f'    <circle cx="{x:.1f}" cy="{y:.1f}" r="{2.2 * RADIUS:.1f}" stroke="none"/>')
            parts.append("  </g>")
        return parts

    def _territory(self, v: int) -> str:
        (x, y), n = self.places[v], self.armies[v]
        name = escape(self.map.territories[v])
        return f"  <g><title>{name}: {_owner(n)}</title>{_mark(x, y, n)}</g>"

    def names(self) -> list[str]:
        parts = []
        marks = [
            Extent(x - r, y - r, x + r, y + r)
            for (x, y), r in zip(self.places, (_radius(n) + MIN_CLEARANCE for n in self.armies), strict=True)
        ]
        names: list[Extent] = []
        for v, name in enumerate(self.map.territories):
            boxes = self._boxes(v, len(name) * LETTER)
            around = _enclosing_box(boxes)
            others = (*marks[:v], *marks[v + 1 :], *names)
            near = [other for other in others if _overlap(around, other)]
            crossing = [line for line in self.lines if _crosses(line, around)]
            costs = [self._cost(box, near, crossing) for box in boxes]
            box = boxes[costs.index(min(costs))]
            names.append(box)
            x, y = (box.left + box.right) / 2, box.bottom - 0.2 * FONT
            parts.append(
                f'  <text class="name" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(name)}</text>'
            )
        return parts

    def _boxes(self, v: int, width: float) -> list[Extent]:
        """Return the places for a name: below its mark, above, right, left, and the four diagonals."""
        x, y = self.places[v]
        gap, height = _radius(self.armies[v]) + 3, 1.15 * FONT
        middles = [(x, y + gap + height / 2), (x, y - gap - height / 2)]
        middles += [(x + gap + width / 2, y), (x - gap - width / 2, y)]
        middles += [
            (x + sx * (0.7 * gap + width / 2), y + sy * (gap + height / 2))
            for sy, sx in product((1, -1), (1, -1))
        ]
        return [Extent(a - width / 2, b - height / 2, a + width / 2, b + height / 2) for a, b in middles]

    def _cost(self, box: Extent, occupied: Sequence[Extent], lines: Sequence[Line]) -> float:
        """Return the cost of a place for a name: overlaps with marks and names count most, then roads."""
        outside = box.left < 2 or box.right > self.width - 2
        hidden = sum(_overlap(box, other) for other in occupied)
        crossed = sum(_crosses(line, box) for line in lines)
        return 1000.0 * outside + 20 * hidden + crossed

    def _legend(self) -> tuple[list[str], float]:
        entries = [
            (_mark(0, 0, 1, ""), f"Maxie, {_total(self.armies, 1)}"),
            (_mark(0, 0, -1, ""), f"Minnie, {_total(self.armies, -1)}"),
            (_mark(0, 0, 0), "empty"),
        ]
        for tint, (name, members) in zip(cycle(TINTS), self.file.continents, strict=False):
            swatch = f'<circle class="tint" style="opacity: 0.5" r="9" fill="{tint}"/>'
            entries.append((swatch, f"{name}, {len(members)}"))
        parts, x, y = [], MARGIN, self.drawn_height
        for mark, words in entries:
            width = 40 + len(words) * 1.1 * LETTER
            if x + width > self.width - MARGIN / 2 and x > MARGIN:
                x, y = MARGIN, y + 30
            parts.append(
                f'  <g transform="translate({x:.1f} {y:.1f})"><g transform="scale(0.7)">{mark}</g>'
                f'<text x="16" y="4">{escape(words)}</text></g>'
            )
            x += width
        return parts, y - self.drawn_height + 30


def _mark(x: float, y: float, armies: int, text: str | None = None) -> str:
    if armies == 0:
        return f'<circle class="empty" cx="{x:.1f}" cy="{y:.1f}" r="{HOLLOW:.1f}"/>'
    if armies > 0:
        shape = f'<circle class="maxie" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS:.1f}"/>'
    else:
        side = 1.8 * RADIUS
        shape = (
            f'<rect class="minnie" x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" '
            f'width="{side:.1f}" height="{side:.1f}" rx="3"/>'
        )
    label = str(abs(armies)) if text is None else text
    return shape + (f'<text class="armies" x="{x:.1f}" y="{y + 4.6:.1f}">{label}</text>' if label else "")


def _owner(armies: int) -> str:
    return f"{'Maxie' if armies > 0 else 'Minnie'} {abs(armies)}" if armies else "empty"


def _total(armies: Sequence[int], sign: int) -> str:
    held = [sign * n for n in armies if sign * n > 0]
    return f"{sum(held)} {'army' if sum(held) == 1 else 'armies'} on {len(held)}"


def _line(line: Line, attributes: str) -> str:
    (a, b), (c, d) = line
    return f'  <line {attributes} x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}"/>'


def _radius(armies: int) -> float:
    return RADIUS if armies else HOLLOW


def _enclosing_box(boxes: Sequence[Extent]) -> Extent:
    return Extent(
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )


def _overlap(a: Extent, b: Extent) -> float:
    """Return the overlap of two rectangles: 0 if they are disjoint, otherwise 1 plus the hidden share of `a`."""
    wide = min(a.right, b.right) - max(a.left, b.left)
    high = min(a.bottom, b.bottom) - max(a.top, b.top)
    if wide <= 0 or high <= 0:
        return 0.0
    return 1 + wide * high / (a.width * a.height)


def _crosses(line: Line, box: Extent) -> bool:
    """Return True if the line touches the box, by clipping the line to both spans of the box."""
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
