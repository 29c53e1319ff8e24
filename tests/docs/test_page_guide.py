"""The page's curves of chances are those of its guide, and those of the maps."""

from __future__ import annotations

import re
from pathlib import Path

from arena.maps.chance import DEFAULT_WINNING_CHANCE_STEEPNESS, WINNING_CHANCE_STEEPNESS_BY_MAP

ROOT = Path(__file__).parents[2]


def test_the_page_and_the_review_have_the_curves_that_the_guide_tells() -> None:
    page = (ROOT / "page/js/parts/values.js").read_text(encoding="utf-8")
    line = re.search(r"const STEEP = \{ (.*) \};\nconst DEFAULT_STEEPNESS = ([0-9.]+);", page)
    assert line is not None
    used = dict(each.split(": ") for each in line[1].split(", "))
    guide = (ROOT / "docs/page.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| (\w+) \| \d+ \| ([0-9.]+) ± ", guide, re.MULTILINE))
    assert used == {name: k for name, k in told.items() if name != "elsewhere"}
    assert told["elsewhere"] == line[2]
    assert {name: float(k) for name, k in used.items()} == WINNING_CHANCE_STEEPNESS_BY_MAP
    assert float(line[2]) == DEFAULT_WINNING_CHANCE_STEEPNESS
