"""Charts as SVG: a plotting area, and lines, curves, dots and labels to draw on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

TEXT_COLOUR, GRID_COLOUR = "#1b1b1b", "#d5d5d5"
"""Colour of texts and axes, and colour of the lines behind the plotted data."""


@dataclass(frozen=True)
class PlotArea:
    """Plotting area of a chart: the positions of its edges in SVG units, and the data values at the edges."""

    left: float
    right: float
    top: float
    bottom: float
    x_range: tuple[float, float]
    """Data values at the left and right edge."""
    y_range: tuple[float, float]
    """Data values at the bottom and top edge."""

    def to_svg_x(self, data_value: float) -> float:
        """Return the horizontal position, in SVG units, at which the data value `data_value` is drawn."""
        low, high = self.x_range
        return self.left + (self.right - self.left) * (data_value - low) / ((high - low) or 1)

    def to_svg_y(self, data_value: float) -> float:
        """Return the vertical position, in SVG units, at which the data value `data_value` is drawn."""
        low, high = self.y_range
        return self.bottom - (self.bottom - self.top) * (data_value - low) / ((high - low) or 1)

    def render_curve(
        self,
        points: Iterable[tuple[float, float]],
        colour: str,
        width: float,
        svg_attributes: str = "",
        tooltip: str = "",
    ) -> str:
        """Return an SVG element with straight lines between successive `points`, which are pairs of data values (x, y).

        width           width of the line, in SVG units
        svg_attributes  further SVG attributes, with a space before each, such as ` opacity="0.5"`
        tooltip         tooltip; empty for none
        """
        path = " ".join(f"{self.to_svg_x(a):.1f},{self.to_svg_y(b):.1f}" for a, b in points)
        return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"{svg_attributes}>{_render_tooltip(tooltip)}</polyline>'

    def render_value_axis(self, label_by_value: Mapping[float, str], label_offset: float) -> list[str]:
        """Return SVG elements: for each y value in `label_by_value`, a horizontal line across the area, and its label.

        label_offset  distance between a label and the area, in SVG units
        """
        return [
            *(
                render_line(self.left, self.to_svg_y(y), self.right, self.to_svg_y(y), GRID_COLOUR)
                for y in label_by_value
            ),
            *(
                render_text_element(self.left - label_offset, self.to_svg_y(y) + 4, label, anchor="end")
                for y, label in label_by_value.items()
            ),
        ]

    def render_x_labels(self, x_values: Iterable[float], label_offset: float) -> list[str]:
        """Return SVG texts: for each x value in `x_values`, that number as a label below the area.

        label_offset  distance between the area and the baseline of a label, in SVG units
        """
        return [
            render_text_element(self.to_svg_x(x), self.bottom + label_offset, f"{x:g}", anchor="middle")
            for x in x_values
        ]


def render_line(
    x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1, svg_attributes: str = ""
) -> str:
    """Return an SVG element: a straight line from (x1, y1) to (x2, y2), in SVG units.

    svg_attributes  further SVG attributes, with a space before each
    """
    endpoint_attributes = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {endpoint_attributes} stroke="{colour}" stroke-width="{width:g}"{svg_attributes}/>'


def render_text_element(
    x: float, y: float, text: str, colour: str = TEXT_COLOUR, anchor: str = "start", svg_attributes: str = ""
) -> str:
    """Return an SVG element: a text whose baseline is at `y`.

    anchor          part of the text that is at `x`: start, middle or end
    svg_attributes  further SVG attributes, with a space before each
    """
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{svg_attributes}>{escape(text)}</text>'


def render_dot(x: float, y: float, radius: float, colour: str, tooltip: str = "") -> str:
    """Return an SVG element: a filled circle, placed and sized in SVG units. `tooltip` is its tooltip; empty for none."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}">{_render_tooltip(tooltip)}</circle>'


def render_svg_document(width: float, height: float, elements: Sequence[str]) -> str:
    """Return a complete SVG file of `width` by `height` SVG units, with the SVG `elements` on a white background."""
    size = f'width="{width:.0f}" height="{height:.0f}"'
    box = f'{size} viewBox="0 0 {width:.0f} {height:.0f}"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="sans-serif" font-size="12">'
    return "\n".join([opening, f'<rect {size} fill="white"/>', *elements, "</svg>", ""])


def _render_tooltip(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""
