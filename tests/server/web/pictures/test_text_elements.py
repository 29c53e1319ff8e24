"""Texts in pictures fit their widths."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from hypothesis import example, given
from hypothesis import strategies as st
from PIL import ImageFont

from arena.server.web.pictures.text_elements import FONT_FILE, MIN_FONT_SCALE, render_text


@given(st.text(max_size=80), st.floats(60, 900), st.floats(8, 60))
@example("00000:<AEILLPV*\x1f\x1f\x1f\x1f\x1f\x1f\x1fKeU\x1fio®×ðð", 499.75, 22.0)
def test_any_text_fits_its_width(words: str, wide: float, size: float) -> None:
    drawn = render_text(10, 20, size, words, wide)
    match = re.search(r"font: ([\d.]+)px", drawn)
    assert match is not None
    shown = float(match[1])
    said = ET.fromstring(drawn).text or ""
    assert MIN_FONT_SCALE * size - 0.1 <= shown <= size + 0.1
    long = ImageFont.truetype(str(FONT_FILE), 100).getlength(said) * shown / 100
    assert len(said) <= 1 or long <= wide + 1
    assert said == words or said.endswith("…") or not words.isprintable()
