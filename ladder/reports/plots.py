"""The plots of a ladder's report, as SVG that scales to the width of a telephone: axes with ticks, units, a colour a bot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from arena.rating.standings import Row

WIDTH, LEFT, RIGHT = 360, 46, 20
"""In units of the drawing, in which a letter is 12 high: 360 is a narrow window, in which it is not scaled down."""
PLOT = 150
"""The height between the axes of a plot over plies."""
INK, GRID = "#1d2530", "#d8dde4"
NAME = 24
"""Characters of a name that a plot shows."""
TURN = 137.508
"""The golden angle, in degrees: colours that follow each other stay apart however many there are."""


def colours(bots: Sequence[str]) -> dict[str, str]:
    """The colour of each bot in all of the report."""
    return {bot: f"hsl({round(215 + TURN * n) % 360} 65% 38%)" for n, bot in enumerate(bots)}


def swatch(colour: str) -> str:
    """A small patch of a bot's colour, to stand before its name."""
    return f'<i class="swatch" style="background:{colour}"></i>'


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """At most `most` + 1 round numbers from at or below `low` to at or above `high`, in equal steps of 1, 2 or 5."""
    span = max(high - low, 1e-9)
    step = 10.0 ** math.floor(math.log10(span / most))
    step = next(step * times for times in (1, 2, 5, 10, 20, 50) if _count(low, high, step * times) <= most)
    first = math.floor(low / step)
    return [step * n for n in range(first, first + _count(low, high, step) + 1)]


def _count(low: float, high: float, step: float) -> int:
    return math.ceil(high / step) - math.floor(low / step)


def _text(x: float, y: float, words: str, anchor: str = "start", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = GRID, width: float = 1) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width:g}"/>'


def _svg(height: float, label: str, drawn: Sequence[str]) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(label)}">{"".join(drawn)}</svg>'


def ratings(rows: Sequence[Row], colour: Mapping[str, str]) -> str:
    """Each rating as a dot on its 95 % interval, over an axis in Elo."""
    played = [row for row in rows if row.games]
    if not played:
        return ""
    marks = ticks(min(r.elo - r.elo_error for r in played), max(r.elo + r.elo_error for r in played))
    scale = (WIDTH - LEFT - RIGHT) / (marks[-1] - marks[0])

    def at(elo: float) -> float:
        return LEFT + (elo - marks[0]) * scale

    bottom = 34 * len(played) + 6
    drawn = [_line(at(mark), 0, at(mark), bottom) for mark in marks]
    drawn += [_text(at(mark), bottom + 15, f"{mark:+z.0f}", "middle") for mark in marks]
    for index, row in enumerate(played):
        y, own = 34 * index + 24, colour[row.bot]
        drawn += [
            _text(2, y - 10, row.bot[:NAME]),
            _line(at(row.elo - row.elo_error), y, at(row.elo + row.elo_error), y, own, 3),
            f'<circle cx="{at(row.elo):.1f}" cy="{y}" r="5" fill="{own}"/>',
        ]
    drawn.append(_text(WIDTH - RIGHT, bottom + 32, "Elo, relative to the average of the bots", "end"))
    return _svg(bottom + 38, "The rating of each bot with its 95 % interval, in Elo", drawn)


def over_plies(
    what: str, unit: str, curves: Mapping[str, Mapping[int, float]], colour: Mapping[str, str]
) -> str:
    """A curve a bot over the plies of a match, under its title and with a legend; nothing without a curve.

    what   what the curves show, as in "time a move"
    unit   of it, on the axis
    """
    if not curves:
        return ""
    down = ticks(0, max(max(by_ply.values()) for by_ply in curves.values()) or 1)
    across = ticks(0, max(max(by_ply) for by_ply in curves.values()) or 1)
    top = 22

    def x(ply: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * ply / across[-1]

    def y(value: float) -> float:
        return top + PLOT * (1 - value / down[-1])

    drawn = [_line(x(0), y(mark), x(across[-1]), y(mark)) for mark in down]
    drawn += [_text(LEFT - 5, y(mark) + 4, f"{mark:g}", "end") for mark in down]
    drawn += [_text(x(mark), top + PLOT + 16, f"{mark:g}", "middle") for mark in across]
    drawn += [
        _line(x(0), top, x(0), top + PLOT, INK),
        _line(x(0), top + PLOT, x(across[-1]), top + PLOT, INK),
        _text(2, 12, unit),
        _text(WIDTH - RIGHT, top + PLOT + 32, "ply", "end"),
    ]
    for bot in (bot for bot in colour if bot in curves):
        points = " ".join(f"{x(ply):.1f},{y(value):.1f}" for ply, value in sorted(curves[bot].items()))
        drawn.append(
            f'<polyline points="{points}" fill="none" stroke="{colour[bot]}" stroke-width="2"'
            f' stroke-linejoin="round"><title>{escape(bot)}</title></polyline>'
        )
    legend = "".join(f"<li>{swatch(colour[bot])}{escape(bot)}</li>" for bot in colour if bot in curves)
    return (
        f"<h3>{escape(what)}</h3>{_svg(top + PLOT + 38, f'{what} by ply, in {unit}', drawn)}"
        f'<ul class="legend">{legend}</ul>'
    )
