"""`arena maps measure`: its table, its file, and what it refuses."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli import main
from arena.lab.commands.measure import HEADINGS


def run(*arguments: str) -> object:
    with pytest.raises(SystemExit) as ended:
        main(["maps", "measure", *arguments])
    return ended.value.code


def test_a_map_is_measured_into_json_and_into_a_markdown_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = tmp_path / "measured.json"
    assert run("path4", "--matches", "2", "--processes", "1", "--json", str(told)) == 0
    [facts] = json.loads(told.read_text())
    assert (facts["map"], facts["armies_to_win"]) == ("path4", 20)
    assert [each["nodes"] for each in facts["equals"]] == [500, 4_000, 32_000]
    assert all(sum(each["endings"].values()) == each["matches"] == 2 for each in facts["equals"])
    table = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in capsys.readouterr().out.splitlines()
    ]
    assert table[0] == list(HEADINGS)
    assert table[2][:5] == ["path4", "10", "20", "200", "500"]
    assert [row[:5] for row in table[3:]] == [["", "", "", "", nodes] for nodes in ("4,000", "32,000")]


def test_two_processes_measure_what_one_does(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    how = ("path4", "--matches", "2")
    assert run(*how, "--processes", "1", "--json", str(one)) == 0
    words = ["maps", "measure", *how, "--processes", "2", "--json", str(two)]
    subprocess.run([sys.executable, "-m", "arena", *words], check=True, timeout=500)
    assert one.read_text() == two.read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["atlantis"], 2, "no such map"),
        (["ring:65"], 2, "too large for the compiled engines: at most 64 territories"),
        (["m1", "--matches", "1"], 2, "--matches"),
        (["m1", "m2", "--openings", "shipped"], 2, "--openings: must be used with one map"),
        (["path4", "--openings", "shipped"], 2, "--openings: path4 has no shipped openings"),
        (["m1", "--openings", "no.txt"], 2, "--openings: cannot read the openings no.txt: No such file"),
        (["m1", "--openings", "shipped", "--matches", "999"], 2, "--matches: must be at most"),
    ],
)
def test_an_unmeasurable_map_is_reported_in_one_line(
    arguments: list[str], code: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == code
    assert why in capsys.readouterr().err


def test_a_terminal_has_a_table_of_how_matches_decide_and_one_of_what_there_is_to_watch() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "arena", "maps", "measure", "path4", "--matches", "2", "--processes", "1"],
        env=os.environ | {"FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=True,
        timeout=500,
    )
    plain = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    decide, watch = plain.split("\n map ")[1:]
    assert "endings" not in watch
    assert "comebacks" not in decide
    heading, _, *rows = watch.splitlines()
    assert re.split(" {2,}", heading.strip()) == [
        "nodes a move",
        "comebacks",
        "lead changes",
        "back and forth",
        "gap",
    ]
    assert rows[0].split()[:2] == ["path4", "500"]
    assert len([row for row in rows if row.strip()]) == 3, "one for each strength"
