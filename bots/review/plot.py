"""Draws a judged match as SVG: the engine's value over the plies, and what both players thought."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from arena.bots.review.review import ReviewedMove
from arena.bots.search.values import ESTIMATE_LIMIT

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 130, 48, 48
INK, GRID = "#1b1b1b", "#d5d5d5"
COLOURS = {"engine": "#1b1b1b", "maxie": "#c2261d", "minnie": "#1452b8"}
LEAST = 200
"""The smallest scale, in hundredths of an army, so that a quiet match looks quiet."""


def review_svg(
    judged: Sequence[ReviewedMove], title: str, names: tuple[str, str], engine: str, *, armies: bool = True
) -> str:
    """The plot; values are for Maxie, and certain wins lie on the edge. Raises ValueError without a move.

    armies  whether a hundred is worth an army, as in Riskless
    """
    if not judged:
        raise ValueError("nothing to draw: no move was played")
    lines: dict[str, list[tuple[int, float]]] = {"engine": [(each.ply, each.after) for each in judged]}
    for player in ("maxie", "minnie"):
        lines[player] = [
            (each.ply, each.told) for each in judged if each.player == player and each.told is not None
        ]
    estimates = [abs(y) for points in lines.values() for _, y in points if abs(y) <= ESTIMATE_LIMIT]
    top = max(LEAST, *estimates) if estimates else LEAST
    plot = _Plot(len(judged), top)
    body = [
        f'<text x="{LEFT}" y="26" font-size="15" fill="{INK}">{escape(title)}</text>',
        *plot.axes("in armies" if armies else "in hundreds"),
        *(plot.line(points, COLOURS[name]) for name, points in lines.items() if points),
        *(
            f'<circle cx="{plot.x(each.ply):.1f}" cy="{plot.y(each.after):.1f}" r="4" fill="{COLOURS[each.player]}">'
            f"<title>{escape(f'ply {each.ply}: {each.move}, better {each.better}')}</title></circle>"
            f'<text x="{plot.x(each.ply):.1f}" y="{plot.y(each.after) - 8:.1f}" text-anchor="middle" '
            f'font-weight="bold" fill="{COLOURS[each.player]}">{each.mark}</text>'
            for each in judged
            if each.mark
        ),
    ]
    labels = {"engine": engine, "maxie": names[0], "minnie": names[1]}
    for row, name in enumerate(lines):
        at = TOP + 14 + 18 * row
        text = escape(labels[name][:18])
        body.append(f'<text x="{WIDTH - RIGHT + 8}" y="{at}" fill="{COLOURS[name]}">{text}</text>')
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
    return "\n".join(
        [opening, f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', *body, "</svg>", ""]
    )


class _Plot:
    """From a ply and a value to a point of the picture."""

    def __init__(self, plies: int, top: float) -> None:
        self._plies = max(1, plies - 1)
        self._top = top

    def x(self, ply: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * ply / self._plies

    def y(self, value: float) -> float:
        share = max(-1.0, min(1.0, value / self._top))
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share) / 2

    def line(self, points: Sequence[tuple[int, float]], colour: str) -> str:
        path = " ".join(f"{self.x(ply):.1f},{self.y(value):.1f}" for ply, value in points)
        return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>'

    def axes(self, unit: str) -> list[str]:
        drawn = []
        for value in (self._top, 0, -self._top):
            y = self.y(value)
            drawn.append(
                f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="{GRID}"/>'
            )
            drawn.append(
                f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="{INK}">{value / 100:+g}</text>'
            )
        below = HEIGHT - BOTTOM + 20
        drawn += [
            f'<text x="{self.x(ply):.1f}" y="{below}" text-anchor="middle" fill="{INK}">{ply}</text>'
            for ply in sorted({0, self._plies // 2, self._plies})
        ]
        drawn.append(
            f'<text x="{LEFT}" y="{HEIGHT - 10}" fill="{INK}">ply; values {unit}, high for maxie, a certain win '
            "on the edge; ?, ??: gave much away</text>"
        )
        return drawn
