"""Texts in pictures, in one font, scaled to fit by their measured widths."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from math import floor
from pathlib import Path

from PIL import ImageFont

FONT_NAME = "DejaVu Sans"
FONT_FILE = Path(__file__).parent / "fonts" / "DejaVuSans.ttf"
INK, MUTED = "#16202b", "#566373"
"""Colours of ordinary texts and of less important texts."""
MIN_FONT_SCALE = 0.6
"""Smallest factor by which a text is scaled down to fit. A text that is still too wide is cut."""
MAX_SHOWN_CHARACTERS = 200
"""Maximum number of characters of a text in a picture. The rest is cut off."""


def render_text(x: float, y: float, font_size: float, text: str, max_width: float, colour: str = INK) -> str:
    """Return the SVG element of a line of text.

    A text that is wider than `max_width` is scaled down; if that is not enough, it is also cut.

    x, y: left end of the baseline, in pixels
    font_size: font size, in pixels
    max_width: maximum width, in pixels
    """
    text = "".join(character if character.isprintable() else "�" for character in text[:MAX_SHOWN_CHARACTERS])
    length = _measure_text_width(text, font_size)
    if length > max_width:
        font_size = max(MIN_FONT_SCALE * font_size, font_size * max_width / length)
        while len(text) > 1 and _measure_text_width(text, font_size) > max_width:
            text = f"{text[: -2 if text.endswith('…') else -1]}…"
    # As a style attribute, because a map's style sheet applies to the whole document and overrides plain attributes.
    # The size is rounded down. Rounded up, it could make a long text wider than `max_width`.
    style = f"font: {floor(10 * font_size) / 10:.1f}px '{FONT_NAME}'; fill: {colour}; stroke: none"
    return f'<text x="{x:.1f}" y="{y:.1f}" style="{style}">{escape(text)}</text>'


def _measure_text_width(text: str, font_size: float) -> float:
    return _load_font().getlength(text) * font_size / 100


@lru_cache(maxsize=1)
def _load_font() -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(FONT_FILE), 100)
