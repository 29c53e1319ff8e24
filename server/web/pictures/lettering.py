"""Texts in pictures, in one font, scaled to fit by their measured widths."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from math import floor
from pathlib import Path

from PIL import ImageFont

FONT = "DejaVu Sans"
FONT_FILE = Path(__file__).parent / "fonts" / "DejaVuSans.ttf"
INK, QUIET = "#16202b", "#566373"
MIN_SCALE = 0.6
"""Smallest scale of a text. A text that is still too wide is cut."""
MAX_CHARACTERS = 200
"""Maximum number of characters of a text."""


def text_element(x: float, y: float, size: float, text: str, max_width: float, colour: str = INK) -> str:
    """Return the SVG element of a line of text at (x, y). A text wider than `max_width` pixels is scaled down, then cut."""
    text = "".join(each if each.isprintable() else "�" for each in text[:MAX_CHARACTERS])
    length = _text_width(text, size)
    if length > max_width:
        size = max(MIN_SCALE * size, size * max_width / length)
        while len(text) > 1 and _text_width(text, size) > max_width:
            text = f"{text[: -2 if text.endswith('…') else -1]}…"
    # As a style attribute, because a map's style sheet applies to the whole document and overrides plain attributes.
    # Rounded down, because half a tenth of a pixel more on each of many characters would exceed the place.
    style = f"font: {floor(10 * size) / 10:.1f}px '{FONT}'; fill: {colour}; stroke: none"
    return f'<text x="{x:.1f}" y="{y:.1f}" style="{style}">{escape(text)}</text>'


def _text_width(text: str, size: float) -> float:
    return _load_font().getlength(text) * size / 100


@lru_cache(maxsize=1)
def _load_font() -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(FONT_FILE), 100)
