"""`arena maps measure`: its table, its file, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.lab.commands.measure import HEADINGS
from tests.bots.command_line import arena, fails


def test_a_map_is_measured_into_json_and_into_a_markdown_table(tmp_path: Path) -> None:
    told = tmp_path / "measured.json"
    result = arena("maps", "measure", "path4", "--matches", "2", "--processes", "1", "--json", told)
    assert result.code == 0, result
    [facts] = json.loads(told.read_text())
    assert (facts["map"], facts["armies_to_win"]) == ("path4", 20)
    assert [each["nodes"] for each in facts["equals"]] == [500, 4_000, 32_000]
    assert all(sum(each["endings"].values()) == each["matches"] == 2 for each in facts["equals"])
    heading, *_, last = result.stdout.splitlines()
    assert [cell.strip() for cell in heading.strip("|").split("|")] == list(HEADINGS)
    assert "32,000" in last


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["atlantis"], 2, "no such map"),
        (["ring:65"], 2, "too large for the compiled engines: at most 64 territories"),
        (["m1", "--matches", "1"], 2, "--matches"),
        (["m1", "m2", "--openings", "shipped"], 2, "--openings: works with one map only"),
        (["path4", "--openings", "shipped"], 2, "--openings: path4 has no shipped openings"),
        (["m1", "--openings", "no.txt"], 2, "--openings: cannot read the openings no.txt: No such file"),
        (["m1", "--openings", "shipped", "--matches", "999"], 2, "--matches: must be at most"),
    ],
)
def test_an_unmeasurable_map_is_reported_in_one_line(arguments: list[str], code: int, why: str) -> None:
    fails(why, code, "maps", "measure", *arguments)
