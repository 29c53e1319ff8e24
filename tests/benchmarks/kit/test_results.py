"""RESULTS.md keeps the sections that were not measured again, and repeats what was promised and found."""

from __future__ import annotations

from pathlib import Path

from benchmarks.kit.measure import Ratio, Section
from benchmarks.kit.results import ResultsPage, claim

ORDER = ("first", "second", "third")


def section(title: str, found: str) -> str:
    """Return a section as the command writes it."""
    ratios = Ratio([3.0, 1.0, 2.0])
    section = Section(
        title, "So.", ["", "ratio"], [["a", str(ratios)]], "A note.", [claim(title, "at least 1.5 ×", found)]
    )
    return f"{section.markdown()}\n\nMeasured on a day."


def test_a_part_that_is_measured_again_replaces_itself_alone(tmp_path: Path) -> None:
    page = ResultsPage(tmp_path / "RESULTS.md", ORDER)
    assert page.sections() == {}
    sections = {name: section(name, "1.0 ×") for name in ORDER}
    for name in ("second", "first", "third"):
        page.write(name, sections[name])
    assert page.sections() == sections
    assert list(page.sections()) == list(ORDER), "whichever is measured first"
    sections["second"] = section("second", "9.9 (9 to 10.5, n = 3) ×")
    page.write("second", sections["second"])
    assert page.sections() == sections


def test_the_table_after_the_head_repeats_every_promise_in_order(tmp_path: Path) -> None:
    page = ResultsPage(tmp_path / "RESULTS.md", ORDER)
    page.path.write_text("# A head\n\n| its own | table |\n", encoding="utf-8")
    page.write("third", section("a, b", "+84 (+53 to +117)"))
    page.write("first", section("one", "1.0 ×"))
    head, _, _ = page.path.read_text(encoding="utf-8").partition("<!--")
    assert head.splitlines() == [
        "# A head",
        "",
        "| its own | table |",
        "",
        "| | promised | found |",
        "| --- | --- | --- |",
        "| one | at least 1.5 × | 1.0 × |",
        "| a, b | at least 1.5 × | +84 (+53 to +117) |",
        "",
    ]


def test_a_ratio_tells_its_median_and_its_ends() -> None:
    assert str(Ratio([250.4, 30.06, 1.234])) == "30.1 (1.23 to 250, n = 3)"
