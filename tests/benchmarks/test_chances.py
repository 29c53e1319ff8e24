"""The curve of chances: it is found again in matches that were made by it, and the page has the one that is told."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from benchmarks.chances import Said, bands, chance, error, fit, loss

ROOT = Path(__file__).parents[2]


def made(k: float, count: int, seed: int) -> list[Said]:
    """Matches whose values tell the truth by a curve of this steepness."""
    chooser = random.Random(seed)
    found = []
    for _ in range(count):
        share = chooser.gauss(0, 0.1)
        found.append(Said((share,), float(chooser.random() < chance(share, k))))
    return found


@pytest.mark.parametrize("k", [3.0, 15.0])
def test_the_curve_is_found_again_within_its_error(k: float) -> None:
    matches = made(k, 800, 3)
    assert abs(fit(matches) - k) < 4 * error(matches)
    for _, _, told, came, count in bands(matches, fit(matches)):
        assert abs(told - came) < 4 * (0.25 / count) ** 0.5


def test_no_other_curve_costs_less() -> None:
    matches = made(8.0, 400, 5)
    k = fit(matches)
    assert all(loss(matches, k) <= loss(matches, k * factor) for factor in (0.8, 0.95, 1.05, 1.25))


def test_matches_that_tell_nothing_have_no_curve() -> None:
    with pytest.raises(ValueError, match="no curve fits"):
        fit([Said((0.1,), 1.0), Said((-0.1,), 0.0)])
    with pytest.raises(ValueError, match="no curve fits"):
        fit([Said((0.0,), 1.0)])


def test_the_page_has_the_curves_that_the_guide_tells() -> None:
    page = (ROOT / "page/js/parts/worth.js").read_text(encoding="utf-8")
    line = re.search(r"const STEEP = \{ (.*) \};\nconst ELSEWHERE = ([0-9.]+);", page)
    assert line is not None
    used = dict(each.split(": ") for each in line[1].split(", "))
    guide = (ROOT / "docs/page.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| (\w+) \| \d+ \| ([0-9.]+) ± ", guide, re.MULTILINE))
    assert used == {name: k for name, k in told.items() if name != "elsewhere"}
    assert told["elsewhere"] == line[2]
