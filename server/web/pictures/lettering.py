"""Texts of a picture, in the one font that all pictures have, made to fit by their true widths."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from pathlib import Path

from PIL import ImageFont

FONT = "DejaVu Sans"
FONT_FILE = Path(__file__).parent / "fonts" / "DejaVuSans.ttf"
INK, QUIET = "#16202b", "#566373"
SMALLEST = 0.6
"""How much smaller a text may become before it is cut."""
MOST = 200
"""Characters of a text that are looked at."""


def text(x: float, y: float, size: float, words: str, wide: float, colour: str = INK) -> str:
    """A line of text that begins at x with its feet at y, and is at most `wide` pixels long: smaller at first, then cut."""
    words = "".join(each if each.isprintable() else "�" for each in words[:MOST])
    length = _length(words, size)
    if length > wide:
        size = max(SMALLEST * size, size * wide / length)
        while len(words) > 1 and _length(words, size) > wide:
            words = f"{words[: -2 if words.endswith('…') else -1]}…"
    # As a style: the style sheet of a map, which holds everywhere in the document, would go before attributes.
    style = f"font: {size:.1f}px '{FONT}'; fill: {colour}; stroke: none"
    return f'<text x="{x:.1f}" y="{y:.1f}" style="{style}">{escape(words)}</text>'


def _length(words: str, size: float) -> float:
    return _font().getlength(words) * size / 100


@lru_cache(maxsize=1)
def _font() -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(FONT_FILE), 100)
