"""SVG chart of the leaves that each algorithm visits at each depth p, on a logarithmic scale.

Dashed curves show the numbers of leaves that theory expects: powers of the branching factor q.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor, log10

from arena.bots.search.leaf_counts import LeafCountComparison
from arena.charts import (
    TEXT_COLOUR,
    PlotArea,
    render_dot,
    render_line,
    render_svg_document,
    render_text_element,
)

WIDTH, HEIGHT = 760, 480
LEFT, RIGHT, TOP, BOTTOM = 78, 140, 48, 56
REFERENCE_CURVE_COLOUR = "#8a8a8a"
CURVE_COLOURS = (TEXT_COLOUR, "#b15928", "#6a3d9a", "#c2261d", "#1452b8", "#0b7a3b", "#d97b00", "#d1478f")
REFERENCE_CURVES = ((1.0, "q^p"), (0.75, "q^(3p/4)"), (0.5, "q^(p/2)"))
"""Curves of the expected numbers of leaves at depth p, each as (factor of p in the exponent of q, label of the curve).

q is the branching factor. The curves are dashed.
"""


def render_leaves_chart(comparison: LeafCountComparison, title: str) -> str:
    """Return a chart of the numbers of leaves as an SVG document. Raises ValueError if no algorithm finished depth 1."""
    depth = comparison.max_reached_depth
    if depth == 0:
        raise ValueError("nothing to draw: no algorithm finished depth 1 within its budget of leaves")
    lines = {
        name: list(enumerate(counts, 1))
        for name, counts in comparison.leaf_counts_to_max_depth.items()
        if counts
    }
    powers: dict[str, list[tuple[int, int]]] = {}
    for exponent_factor, name in REFERENCE_CURVES:
        expected = [
            (p, comparison.compute_expected_leaf_count(p, exponent_factor)) for p in range(1, depth + 1)
        ]
        powers[name] = [(p, y) for p, y in expected if y is not None and y <= 10 * comparison.max_leaves]
    all_counts = [y for points in (*lines.values(), *powers.values()) for _, y in points]
    low, high = floor(log10(max(1, min(all_counts)))), max(1, ceil(log10(max(all_counts))))
    area = PlotArea(LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM, (1, depth), (low, high))
    curve_ends: list[tuple[float, float, str, str]] = []
    elements = [
        render_text_element(LEFT, 26, title, svg_attributes=' font-size="15"'),
        *_draw_axes(area, depth, range(low, high + 1)),
    ]
    for name, points in powers.items():
        if points:
            log_points = _to_log_points(points)
            elements.append(
                area.render_curve(log_points, REFERENCE_CURVE_COLOUR, 1.4, ' stroke-dasharray="5 4"')
            )
            curve_ends.append(
                (
                    area.to_svg_x(log_points[-1][0]),
                    area.to_svg_y(log_points[-1][1]),
                    name,
                    REFERENCE_CURVE_COLOUR,
                )
            )
    for (name, points), colour in zip(lines.items(), CURVE_COLOURS, strict=False):
        log_points = _to_log_points(points)
        elements.append(area.render_curve(log_points, colour, 2))
        elements += [render_dot(area.to_svg_x(x), area.to_svg_y(y), 2.8, colour) for x, y in log_points]
        curve_ends.append((area.to_svg_x(log_points[-1][0]), area.to_svg_y(log_points[-1][1]), name, colour))
    return render_svg_document(WIDTH, HEIGHT, [*elements, *_draw_curve_labels(curve_ends)])


def _to_log_points(points: list[tuple[int, int]]) -> list[tuple[float, float]]:
    """Return the points (depth, number of leaves) with each number of leaves replaced by its logarithm to base 10."""
    return [(depth, log10(max(1, count))) for depth, count in points]


def _draw_axes(area: PlotArea, max_depth: int, axis_powers: range) -> Iterator[str]:
    yield from area.render_value_axis({power: f"{10**power:,}" for power in axis_powers}, 10)
    yield from area.render_x_labels(range(1, max_depth + 1), 20)
    yield render_text_element((LEFT + area.right) / 2, HEIGHT - 14, "depth p, in plies", anchor="middle")
    rotation = f' transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2:.0f}) rotate(-90)"'
    yield render_text_element(0, 0, "leaves", anchor="middle", svg_attributes=rotation)


def _draw_curve_labels(curve_ends: list[tuple[float, float, str, str]]) -> Iterator[str]:
    """Yield the names of the curves as SVG text, each to the right of its curve's end, moved up or down if they overlap.

    curve_ends  end of each curve, as (x, y, name, colour)
    """
    min_gap = 15.0
    label_x = WIDTH - RIGHT + 34
    for x, y, name, colour in curve_ends:
        if x < WIDTH - RIGHT - 20:
            yield render_text_element(x - 6, y - 9, name, colour, "end")
    curve_ends = [curve_end for curve_end in curve_ends if curve_end[0] >= WIDTH - RIGHT - 20]
    bottom_y = HEIGHT - BOTTOM
    heights: list[float] = []
    sorted_ends = sorted(curve_ends, key=lambda curve_end: curve_end[1])
    for _, y, _, _ in sorted_ends:
        heights.append(max(y, heights[-1] + min_gap if heights else TOP))
    overflow = heights[-1] - bottom_y if heights else 0
    if overflow > 0:
        for n in range(len(heights) - 1, -1, -1):
            max_y = bottom_y if n == len(heights) - 1 else heights[n + 1] - min_gap
            heights[n] = min(heights[n], max_y)
    for (x, y, name, colour), height in zip(sorted_ends, heights, strict=True):
        yield render_line(x + 4, y, label_x - 4, height, colour, 0.8, ' opacity="0.55"')
        yield render_text_element(label_x, height + 4, name, colour)
