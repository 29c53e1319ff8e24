"""Pages of results: RESULTS.md follows its raw results, and each page has a place for each figure of the programs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.engine import delay, depth, devices, raw, threads
from benchmarks.kit.results import CLUSTER, FOLDER, RESULTS, SERVER, SIMULATION, ResultsPage

PAGES = {RESULTS, SERVER, CLUSTER, SIMULATION}


def test_the_figures_of_results_are_what_the_raw_results_give() -> None:
    assert RESULTS.path.read_text(encoding="utf-8") == raw.render_page()


def test_the_rows_of_results_are_those_of_the_programs() -> None:
    data = {name: raw.load_results(name).data for name in raw.MEASURED_PARTS}
    assert tuple(data["delay"]["ms"]) == delay.ROWS
    assert tuple(data["depth"]["depths"]) == depth.MODES
    assert tuple(data["devices"]["nodes"]) == tuple(name for name, _ in devices.ADDED_TECHNIQUES)
    assert list(data["threads"]["faster"]) == list(threads.make_variants((1, 2, data["threads"]["cores"])))


def test_each_figure_has_a_place_on_a_page() -> None:
    places = {
        name for page in PAGES for name in re.findall(r"<!-- (\w+\.[\w ]+) -->", page.path.read_text("utf-8"))
    }
    parts = {name.partition(".")[0] for name in places}
    code = "".join(path.read_text("utf-8") for path in FOLDER.rglob("*.py"))
    figures = {
        re.sub(r"\{.*\}", ".*", name)
        for name in re.findall(r'"([a-z]+\.[\w {}]+)"', code)
        if name.partition(".")[0] in parts
    }
    measured = {f"{part}.measured" for part in re.findall(r'publish\(\s*"(\w+)"', code)}
    assert {
        name for name in figures | measured if not any(re.fullmatch(name, place) for place in places)
    } == set()
    assert len(places) > 30


def test_a_figure_replaces_only_the_text_of_its_place(tmp_path: Path) -> None:
    page = ResultsPage(tmp_path / "PAGE.md")
    page.path.write_text("p99: <!-- a.p99 -->1 ms<!-- /a.p99 --> of 2 ms", encoding="utf-8")
    assert page.fill({"a.p99": "3 ms"}) == "p99: <!-- a.p99 -->3 ms<!-- /a.p99 --> of 2 ms"
    with pytest.raises(ValueError, match="no place <!-- a"):
        page.fill({"a.p50": "3 ms"})
