"""Draws a comparison as SVG: leaves by depth on a logarithmic scale, beside the powers of q."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import ceil, floor, log10

from arena.bots.search.effort import Comparison

WIDTH, HEIGHT = 760, 480
LEFT, RIGHT, TOP, BOTTOM = 78, 140, 48, 56
OPENING = (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
    f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">'
)
INK, GRID, SOFT = "#1b1b1b", "#e3e3e3", "#8a8a8a"
COLOURS = ("#1b1b1b", "#b15928", "#6a3d9a", "#c2261d", "#1452b8", "#0b7a3b", "#d97b00", "#d1478f")
POWERS = ((1.0, "q^p"), (0.75, "q^(3p/4)"), (0.5, "q^(p/2)"))


def plot_svg(comparison: Comparison, title: str) -> str:
    """The plot. Raises ValueError where there is nothing to draw."""
    depth = comparison.deepest
    if depth == 0:
        raise ValueError("nothing was counted: the budget is too small for depth 1")
    lines = {name: list(enumerate(counts, 1)) for name, counts in comparison.shown.items() if counts}
    powers: dict[str, list[tuple[int, int]]] = {}
    for share, name in POWERS:
        expected = [(p, comparison.expected(p, share)) for p in range(1, depth + 1)]
        powers[name] = [(p, y) for p, y in expected if y is not None and y <= 10 * comparison.budget]
    every = [y for points in (*lines.values(), *powers.values()) for _, y in points]
    low, high = floor(log10(max(1, min(every)))), max(1, ceil(log10(max(every))))
    scale = _Scale(depth, low, high)
    ends: list[tuple[float, float, str, str]] = []
    body: list[str] = []
    for name, points in powers.items():
        if points:
            body.append(_line(scale, points, SOFT, ' stroke-dasharray="5 4" stroke-width="1.4"'))
            ends.append((*scale.at(*points[-1]), name, SOFT))
    for (name, points), colour in zip(lines.items(), COLOURS, strict=False):
        body.append(_line(scale, points, colour, ' stroke-width="2"'))
        body += [_dot(*scale.at(*point), colour) for point in points]
        ends.append((*scale.at(*points[-1]), name, colour))
    return "\n".join(
        [
            OPENING,
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            f'<text x="{LEFT}" y="26" font-size="15" fill="{INK}">{escape(title)}</text>',
            *_axes(scale),
            *body,
            *_labels(ends),
            "</svg>",
            "",
        ]
    )


class _Scale:
    """From a depth and a count to a point of the picture."""

    def __init__(self, depth: int, low: int, high: int) -> None:
        self.depth, self.low, self.high = depth, low, high

    def at(self, depth: int, count: int) -> tuple[float, float]:
        x = LEFT + (WIDTH - LEFT - RIGHT) * (depth - 1) / max(1, self.depth - 1)
        share = (log10(max(1, count)) - self.low) / max(1, self.high - self.low)
        return x, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share


def _axes(scale: _Scale) -> Iterator[str]:
    right = WIDTH - RIGHT
    for power in range(scale.low, scale.high + 1):
        _, y = scale.at(1, 10**power)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="{GRID}"/>'
        yield f'<text x="{LEFT - 10}" y="{y + 4:.1f}" text-anchor="end" fill="{INK}">{10**power:,}</text>'
    for depth in range(1, scale.depth + 1):
        x, _ = scale.at(depth, 1)
        yield f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle" fill="{INK}">{depth}</text>'
    middle = (LEFT + right) / 2
    yield f'<text x="{middle:.0f}" y="{HEIGHT - 14}" text-anchor="middle" fill="{INK}">depth p, in plies</text>'
    yield (
        f'<text transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2:.0f}) rotate(-90)" text-anchor="middle" '
        f'fill="{INK}">leaves</text>'
    )


def _line(scale: _Scale, points: list[tuple[int, int]], colour: str, style: str) -> str:
    path = " ".join("{:.1f},{:.1f}".format(*scale.at(*point)) for point in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}"{style}/>'


def _dot(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.8" fill="{colour}"/>'


def _labels(ends: list[tuple[float, float, str, str]]) -> Iterator[str]:
    """Names at the right edge, each at its line's height and pushed apart where they would touch.

    A line that ends before has its name at its end.
    """
    gap = 15.0
    column = WIDTH - RIGHT + 34
    for x, y, name, colour in ends:
        if x < WIDTH - RIGHT - 20:
            yield f'<text x="{x - 6:.1f}" y="{y - 9:.1f}" text-anchor="end" fill="{colour}">{escape(name)}</text>'
    ends = [end for end in ends if end[0] >= WIDTH - RIGHT - 20]
    floor_y = HEIGHT - BOTTOM
    heights: list[float] = []
    ordered = sorted(ends, key=lambda end: end[1])
    for _, y, _, _ in ordered:
        heights.append(max(y, heights[-1] + gap if heights else TOP))
    overflow = heights[-1] - floor_y if heights else 0
    if overflow > 0:
        for n in range(len(heights) - 1, -1, -1):
            limit = floor_y if n == len(heights) - 1 else heights[n + 1] - gap
            heights[n] = min(heights[n], limit)
    for (x, y, name, colour), height in zip(ordered, heights, strict=True):
        yield (
            f'<line x1="{x + 4:.1f}" y1="{y:.1f}" x2="{column - 4}" y2="{height:.1f}" stroke="{colour}" '
            f'stroke-width="0.8" opacity="0.55"/>'
        )
        yield f'<text x="{column}" y="{height + 4:.1f}" fill="{colour}">{escape(name)}</text>'
