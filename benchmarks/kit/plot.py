"""A plot of some lines over a scale of powers of ten, as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 40, 50
COLOURS = (
    "#1b6ca8",
    "#c0392b",
    "#2e8b57",
    "#8e44ad",
    "#d68910",
    "#566573",
    "#117a65",
    "#7b241c",
    "#1a5276",
    "#616a6b",
)

Points = Sequence[tuple[float, float]]


def logarithmic(
    title: str, across: str, up: str, lines: Mapping[str, Points], mark: float | None = None
) -> str:
    """The lines by their names, on logarithmic scales; all values are greater than 0.

    mark: a height that is drawn across, as of a bound
    """
    values = [value for points in lines.values() for value in points]
    low_x, high_x = _decades([x for x, _ in values])
    low_y, high_y = _decades([y for _, y in values] + ([mark] if mark else []))

    def place(x: float, y: float) -> tuple[float, float]:
        right = (math.log10(x) - low_x) / (high_x - low_x)
        above = (math.log10(y) - low_y) / (high_y - low_y)
        return LEFT + right * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - above * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="22" font-size="15">{escape(title)}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(across)}</text>',
        f'<text x="16" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 16 {HEIGHT / 2})">{escape(up)}</text>',
    ]
    for power in range(low_x, high_x + 1):
        x, bottom = place(10.0**power, 10.0**low_y)
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 16:.1f}" text-anchor="middle">{_number(power)}</text>')
    for power in range(low_y, high_y + 1):
        left, y = place(10.0**low_x, 10.0**power)
        parts.append(f'<line x1="{left:.1f}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{_number(power)}</text>')
    if mark is not None:
        left, y = place(10.0**low_x, mark)
        parts.append(
            f'<line x1="{left:.1f}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#000" stroke-dasharray="5 4"/>'
        )
    for number, (name, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        drawn = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in points)
        parts.append(f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2"/>')
        y = TOP + 10 + 18 * number
        parts.append(f'<rect x="{WIDTH - RIGHT + 14}" y="{y - 8}" width="12" height="3" fill="{colour}"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 32}" y="{y}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low = math.floor(math.log10(min(values)) + 1e-9)
    high = math.ceil(math.log10(max(values)) - 1e-9)
    return low, max(high, low + 1)


def _number(power: int) -> str:
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:g}"
