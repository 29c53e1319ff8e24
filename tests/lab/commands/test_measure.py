"""`arena maps measure`: its table, its JSON file and its errors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from arena.games.riskless_map import RisklessMap
from arena.lab import measure
from arena.lab.commands.measure import MEASUREMENT_HEADINGS
from arena.lab.measure import MeasuredMap, measure_maps
from tests.bots.command_line import arena, fails
from tests.games.own import EXAMPLES, forget_games


def test_measurements_are_written_as_json_and_as_a_markdown_table(tmp_path: Path) -> None:
    json_file = tmp_path / "measured.json"
    result = arena(
        "maps", "measure", "path4", "ring:3", "--matches", "2", "--processes", "1", "--json", json_file
    )
    assert result.code == 0, result
    facts, other = json.loads(json_file.read_text())
    assert (facts["map"], facts["armies_to_win"], other["map"]) == ("path4", 20, "ring:3")
    assert [each["nodes"] for each in facts["equals"]] == [500, 4_000, 32_000]
    assert all(sum(each["endings"].values()) == each["matches"] == 2 for each in facts["equals"])
    heading, line, *rows = (
        [cell.strip() for cell in row.strip("|").split("|")] for row in result.stdout.splitlines()
    )
    assert heading == list(MEASUREMENT_HEADINGS)
    assert {len(row) for row in (line, *rows)} == {len(MEASUREMENT_HEADINGS)}
    assert [row[0] for row in rows] == ["path4", "", "", "ring:3", "", ""]
    assert [row[4] for row in rows] == ["500", "4,000", "32,000"] * 2


def test_maps_measured_before_ctrl_c_are_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure_one(maps: Sequence[RisklessMap], *arguments: Any, **how: Any) -> Iterator[MeasuredMap]:
        yield from measure_maps(maps[:1], *arguments, **how)
        raise KeyboardInterrupt

    monkeypatch.setattr(measure, "measure_maps", measure_one)
    json_file = tmp_path / "measured.json"
    result = arena(
        "maps", "measure", "path4", "ring:3", "--matches", "2", "--processes", "1", "--json", json_file
    )
    assert (result.code, result.stderr) == (130, "arena: stopped\n")
    assert "path4" in result.stdout.splitlines()[2]
    assert [each["map"] for each in json.loads(json_file.read_text())] == ["path4"]


@pytest.fixture(autouse=True)
def _forget_games(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_games(monkeypatch)


def test_the_kernel_of_a_variant_estimates_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("maps", "measure", "grid:3x2", "--matches", "2", "--processes", "1", "--game")
    kernel, plain = str(EXAMPLES / "capitals_kernel.py"), str(EXAMPLES / "capitals.py")
    why = "--evaluator: capitals is compiled with an estimate of its own: use the evaluator plain, not 'features'"
    fails(why, 2, *words, kernel, "--evaluator", "features")
    forget_games(monkeypatch)  # both games have the same name
    fails("--evaluator: no evaluator is called 'wise'", 2, *words, plain, "--evaluator", "wise")


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
        (
            ["italy", "--openings", "shipped", "--game", str(EXAMPLES / "capitals.py")],
            2,
            "--openings: the shipped openings are for riskless, and may be illegal in capitals; leave out --openings",
        ),
    ],
)
def test_a_map_that_cannot_be_measured_gives_an_error_of_one_line(
    arguments: list[str], code: int, why: str
) -> None:
    fails(why, code, "maps", "measure", *arguments)
