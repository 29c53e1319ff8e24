"""RESULTS.md keeps the sections that were not measured again, and repeats what was promised and found."""

from __future__ import annotations

from pathlib import Path

from benchmarks.kit.measure import Ratio, Section
from benchmarks.kit.results import claim, read_sections, whole_text, write_server

ORDER = ("first", "second", "third")


def section(title: str, found: str) -> str:
    """Return a section as the command writes it."""
    ratios = Ratio([3.0, 1.0, 2.0])
    section = Section(
        title, "So.", ["", "ratio"], [["a", str(ratios)]], "A note.", [claim(title, "at least 1.5 ×", found)]
    )
    return f"{section.markdown()}\n\nMeasured on a day."


def test_a_part_that_is_measured_again_replaces_itself_alone(tmp_path: Path) -> None:
    file = tmp_path / "RESULTS.md"
    assert read_sections(file) == {}
    sections = {name: section(name, "1.0 ×") for name in ORDER}
    file.write_text(whole_text(sections, ORDER, "a machine"), encoding="utf-8")
    assert read_sections(file) == sections
    again = read_sections(file) | {"second": section("second", "9.9 (9 to 10.5, n = 3) ×")}
    file.write_text(whole_text(again, ORDER, "a machine"), encoding="utf-8")
    assert read_sections(file) == again


def test_the_table_at_the_top_repeats_every_promise_in_order() -> None:
    sections = {"third": section("a, b", "+84 (+53 to +117)"), "first": section("one", "1.0 ×")}
    head, _, _ = whole_text(sections, ORDER, "a machine").partition("<!--")
    assert [line for line in head.splitlines() if line.startswith("|")][2:] == [
        "| one | at least 1.5 × | 1.0 × |",
        "| a, b | at least 1.5 × | +84 (+53 to +117) |",
    ]


def test_a_ratio_tells_its_median_and_its_ends() -> None:
    assert str(Ratio([250.4, 30.06, 1.234])) == "30.1 (1.23 to 250, n = 3)"


def test_the_servers_parts_stand_in_their_order_whichever_is_measured_first(tmp_path: Path) -> None:
    file = tmp_path / "SERVER.md"
    for part in ("size", "speed"):
        write_server(part, section(part, "1.0 ×"), file)
    assert list(read_sections(file)) == ["speed", "size"]
    assert file.read_text(encoding="utf-8").count("| at least 1.5 × |") == 2
