"""A map drawn in the terminal: roads in Braille dots, territories by name, or by number if names do not fit.

A Braille character holds 2 × 4 dots, about equally far apart in both directions. So roads are drawn with two dots per
column and four per row of the terminal, and keep their slopes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.text import Text

from arena.games.riskless_map import RisklessMap, list_roads
from arena.maps.layout import (
    Point,
    compute_map_extent,
    compute_road_lines,
    find_smallest_territory_distance,
)
from arena.maps.map_file import AnnotatedMap

MAX_MAP_ROWS = 44
"""Maximum height of a map, in rows of the terminal. A higher map is scaled down."""
MAX_DOTS_BETWEEN_CLOSEST_TERRITORIES = 34
"""Maximum distance between the two closest territories, in Braille dots. This maximum keeps maps with few territories small."""
EMPTY_BRAILLE_CODE_POINT = 0x2800
"""Code point of the Braille character without dots."""
BRAILLE_DOT_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bit of each dot in a Braille character: four rows of two dots, the top row first."""

MAXIE_STYLE, MINNIE_STYLE, ROAD_STYLE = "bold dodger_blue2", "bold dark_orange", "bright_black"
"""Styles, in the notation of the package Rich, of Maxie's territories, Minnie's territories and roads."""

Label = tuple[str, ...]
"""Lines of text that represent a territory on the map."""


@dataclass(frozen=True)
class _LabelBox:
    """Rectangle of characters that a label covers: its first column and row, its width and height."""

    first_column: int
    first_row: int
    width: int
    height: int


class TextMap(NamedTuple):
    """Map drawn as text (with colours) for the terminal, and whether the text has the territories' names."""

    text: Text
    has_names: bool
    """True if the names of the territories are on the map; False if they did not fit, so that the caller should list them."""


def draw_text_map(
    annotated_map: AnnotatedMap,
    armies: Sequence[int] | None = None,
    column_count: int = 100,
    *,
    use_braille_dots: bool = True,
) -> TextMap:
    """Return a map drawn as text, at most `column_count` columns wide.

    armies            armies of each territory, positive for Maxie, negative for Minnie; by default the armies at the start
    use_braille_dots  False to draw roads with full stops instead of Braille dots, for terminals that know only ASCII
    """
    map = annotated_map.map
    drawn_armies = map.start if armies is None else armies
    label_makers: tuple[Callable[[RisklessMap, int, int], Label], ...] = (
        _make_inline_label,
        _make_stacked_label,
        _make_number_label,
    )
    for make_label in label_makers:
        labels = [
            make_label(map, territory, drawn_armies[territory]) for territory in range(map.territory_count)
        ]
        canvas = _MapCanvas(annotated_map, labels, column_count)
        if not canvas.is_crowded():
            text = canvas.draw_text(drawn_armies, use_braille_dots=use_braille_dots)
            return TextMap(text, has_names=make_label is not _make_number_label)
    marks = [("+" if n > 0 else "-" if n < 0 else "o",) for n in drawn_armies]
    text = _MapCanvas(annotated_map, marks, column_count).draw_text(
        drawn_armies, use_braille_dots=use_braille_dots
    )
    return TextMap(text, has_names=False)


def _make_inline_label(map: RisklessMap, territory: int, armies: int) -> Label:
    name = map.territories[territory]
    return (f"{name} {armies:+d}" if armies else name,)


def _make_stacked_label(map: RisklessMap, territory: int, armies: int) -> Label:
    words = map.territories[territory].split()
    return (*words, f"{armies:+d}") if armies else tuple(words)


def _make_number_label(_: RisklessMap, territory: int, armies: int) -> Label:
    return (f"{territory} {armies:+d}" if armies else str(territory),)


class _MapCanvas:
    """Labels and roads on a grid of characters, scaled so that all labels fit on it."""

    def __init__(self, annotated_map: AnnotatedMap, labels: Sequence[Label], width: int) -> None:
        self.annotated_map = annotated_map
        self.labels = labels
        label_width = max(len(line) for label in labels for line in label)
        label_height = max(map(len, labels))
        extent = compute_map_extent(annotated_map)
        self.extent = extent
        # The unit here is a dot: two per column, four per row.
        max_dot_columns, max_dot_rows = 2 * max(width - label_width - 1, 2), 4 * (MAX_MAP_ROWS - label_height)
        self.scale = min(
            MAX_DOTS_BETWEEN_CLOSEST_TERRITORIES / find_smallest_territory_distance(annotated_map.map),
            max_dot_columns / extent.width if extent.width else max_dot_columns,
            max_dot_rows / extent.height if extent.height else max_dot_rows,
        )
        """Dots per unit of the map's coordinates."""
        self.padding = (label_width, 2 * label_height)
        """Distance of the leftmost and of the topmost territory from the edge of the canvas, in dots."""
        self.columns = int(extent.width * self.scale / 2) + label_width + 1
        self.rows = int(extent.height * self.scale / 4) + label_height + 1
        self.boxes = [self._make_label_box(territory) for territory in range(len(labels))]

    def _to_dot_position(self, place: Point) -> tuple[int, int]:
        return (
            round((place[0] - self.extent.left) * self.scale) + self.padding[0],
            round((place[1] - self.extent.top) * self.scale) + self.padding[1],
        )

    def _make_label_box(self, territory: int) -> _LabelBox:
        x, y = self._to_dot_position(self.annotated_map.map.places[territory])
        width, height = max(map(len, self.labels[territory])), len(self.labels[territory])
        return _LabelBox(max(0, (x - width + 1) // 2), max(0, y // 4 - height // 2), width, height)

    def is_crowded(self) -> bool:
        """Return True if two labels overlap or have no free column between them."""
        occupied: set[tuple[int, int]] = set()
        for box in self.boxes:
            for row in range(box.first_row, box.first_row + box.height):
                cells = {
                    (row, column) for column in range(box.first_column, box.first_column + box.width + 1)
                }
                if not occupied.isdisjoint(cells):
                    return True
                occupied |= cells
        return False

    def draw_text(self, armies: Sequence[int], *, use_braille_dots: bool) -> Text:
        """Return the drawing, with each label in the colour of the player whose `armies` are on the territory.

        If `use_braille_dots` is False, roads are drawn with full stops instead of Braille dots.
        """
        rows = self._draw_roads(use_braille_dots=use_braille_dots)
        styles: dict[tuple[int, int], str] = {}
        for label, box, n in zip(self.labels, self.boxes, armies, strict=True):
            style = MAXIE_STYLE if n > 0 else MINNIE_STYLE if n < 0 else ""
            for row, line in enumerate(label, box.first_row):
                # a space on either side separates the name from roads
                for column, letter in enumerate(
                    f" {line} ", box.first_column + (box.width - len(line)) // 2 - 1
                ):
                    if 0 <= column < self.columns:
                        rows[row][column] = letter
                        styles[row, column] = style
        text = Text(no_wrap=True)
        nonempty_rows = [r for r, row in enumerate(rows) if "".join(row).strip()]
        for r in range(nonempty_rows[0], nonempty_rows[-1] + 1):
            for c, letter in enumerate("".join(rows[r]).rstrip()):
                text.append(letter, styles.get((r, c), ROAD_STYLE))
            text.append("\n")
        text.rstrip()
        return text

    def _draw_roads(self, *, use_braille_dots: bool) -> list[list[str]]:
        """Draw only the roads, in Braille dots or else in full stops, and return the rows of characters."""
        bits = [[0] * self.columns for _ in range(self.rows)]
        for source, target in list_roads(self.annotated_map.map):
            for a, b in compute_road_lines(self.annotated_map, source, target):
                for x, y in _list_dots_on_line(self._to_dot_position(a), self._to_dot_position(b)):
                    bits[y // 4][x // 2] |= BRAILLE_DOT_BITS[y % 4][x % 2]
        return [
            [
                (chr(EMPTY_BRAILLE_CODE_POINT + cell) if use_braille_dots else ".") if cell else " "
                for cell in row
            ]
            for row in bits
        ]


def _list_dots_on_line(start: tuple[int, int], end: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the dots (column, row) of a straight line from `start` to `end`, both included."""
    step_count = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
    return [
        (
            round(start[0] + (end[0] - start[0]) * i / step_count),
            round(start[1] + (end[1] - start[1]) * i / step_count),
        )
        for i in range(step_count + 1)
    ]
