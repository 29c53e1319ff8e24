"""Charts as SVG: the area between the axes, and the lines, curves, dots and words that are drawn on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Area:
    """The area between the axes, in units of the drawing, and the values at its edges."""

    left: float
    right: float
    top: float
    bottom: float
    across: tuple[float, float]
    """The values at the left and at the right."""
    down: tuple[float, float]
    """The values at the bottom and at the top."""

    def x(self, value: float) -> float:
        """Horizontal place of a value."""
        low, high = self.across
        return self.left + (self.right - self.left) * (value - low) / ((high - low) or 1)

    def y(self, value: float) -> float:
        """Vertical place of a value."""
        low, high = self.down
        return self.bottom - (self.bottom - self.top) * (value - low) / ((high - low) or 1)

    def curve(
        self, points: Iterable[tuple[float, float]], colour: str, width: float, more: str = "", tip: str = ""
    ) -> str:
        """The points joined by straight lines; `more` are attributes."""
        path = " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in points)
        return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"{more}>{_tip(tip)}</polyline>'

    def rules(self, values: Iterable[float], colour: str) -> list[str]:
        """A horizontal line across the area at each value."""
        return [line(self.left, self.y(value), self.right, self.y(value), colour) for value in values]


def line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1, more: str = "") -> str:
    """A straight line; `more` are attributes."""
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width:g}"{more}/>'


def text(x: float, y: float, words: str, colour: str = "black", anchor: str = "start", more: str = "") -> str:
    """Words that begin at, end at, or stand around `x`; `more` are attributes."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{more}>{escape(words)}</text>'
    )


def dot(x: float, y: float, radius: float, colour: str, tip: str = "") -> str:
    """A filled circle, and the words that a browser shows when the pointer rests on it."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}">{_tip(tip)}</circle>'


def document(width: float, height: float, drawn: Sequence[str]) -> str:
    """A file of its own: what is drawn, on a white ground."""
    size = f'width="{width:.0f}" height="{height:.0f}"'
    box = f'{size} viewBox="0 0 {width:.0f} {height:.0f}"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="sans-serif" font-size="12">'
    return "\n".join([opening, f'<rect {size} fill="white"/>', *drawn, "</svg>", ""])


def _tip(words: str) -> str:
    return f"<title>{escape(words)}</title>" if words else ""
