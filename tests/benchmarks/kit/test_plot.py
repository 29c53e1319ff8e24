from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from benchmarks.kit.plot import HEIGHT, WIDTH, logarithmic

LINES = {"a <b>": [(1_000, 2.0), (1_000_000, 30.0)], "other": [(1_000, 0.5), (1_000_000, 700.0)]}


def test_a_plot_names_its_lines_and_stays_within_its_frame() -> None:
    drawn = logarithmic("Title", "matches", "ms", LINES, mark=50)
    root = ET.fromstring(drawn)
    texts = [each.text for each in root.iter() if each.tag.endswith("text")]
    assert {"Title", "matches", "ms", *LINES} <= set(texts)
    assert {"1,000", "1,000,000", "0.1"} <= set(texts)
    places = [
        tuple(map(float, place.split(",")))
        for line in re.findall(r'points="([^"]+)"', drawn)
        for place in line.split()
    ]
    assert len(places) == 4
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places)
    (low, high), (left, right) = sorted(y for _, y in places[:2]), sorted(x for x, _ in places[:2])
    assert low < high
    assert left < right


@pytest.mark.parametrize("value", [1.0, 999.0])
def test_a_line_of_one_height_is_drawn(value: float) -> None:
    assert "polyline" in logarithmic("t", "x", "y", {"one": [(10, value), (100, value)]})
