"""`arena maps measure`: its table, its file, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli import main
from arena.lab.commands.measure import BEGIN, END, HEADINGS, markdown_table


def run(*arguments: str) -> object:
    with pytest.raises(SystemExit) as ended:
        main(["maps", "measure", *arguments])
    return ended.value.code


def test_a_map_is_measured_into_json_and_into_a_markdown_file(tmp_path: Path) -> None:
    told, page = tmp_path / "measured.json", tmp_path / "README.md"
    page.write_text(f"above\n{BEGIN}\nold\n{END}\nbelow\n")
    code = run("path4", "--matches", "2", "--processes", "1", "--json", str(told), "--markdown", str(page))
    assert code == 0
    [facts] = json.loads(told.read_text())
    assert (facts["map"], facts["armies_to_win"]) == ("path4", 20)
    assert [each["nodes"] for each in facts["equals"]] == [500, 4_000, 32_000]
    assert all(sum(each["endings"].values()) == each["matches"] == 2 for each in facts["equals"])
    lines = page.read_text().splitlines()
    assert (lines[0], lines[1], lines[-2], lines[-1]) == ("above", BEGIN, END, "below")
    assert "old" not in lines
    table = [line.strip("| ").split(" | ") for line in lines[2:-2]]
    assert table[0] == list(HEADINGS)
    assert table[2][:4] == ["path4", "10", "20", "200"]


def test_the_rows_of_other_maps_stay_in_the_table_in_the_order_of_names(tmp_path: Path) -> None:
    def rows(name: str, word: str) -> list[list[str]]:
        return [[name, *[word] * (len(HEADINGS) - 1)], ["", *[word] * (len(HEADINGS) - 1)]]

    page = tmp_path / "README.md"
    before = [*rows("a", "kept"), *rows("path4", "old"), *rows("z", "kept")]
    page.write_text(f"{BEGIN}\n{markdown_table(before)}\n{END}\n")
    assert run("path4", "--matches", "2", "--processes", "1", "--markdown", str(page)) == 0
    lines = page.read_text().splitlines()[3:-1]
    table = [[cell.strip() for cell in line.split("|")[1:3]] for line in lines]
    assert [name for name, _ in table if name] == ["a", "path4", "z"]
    assert [cell for _, cell in table] == ["kept", "kept", "10", "", "", "kept", "kept"]
    assert "old" not in page.read_text()


@pytest.mark.soak
def test_two_processes_measure_what_one_does(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    how = ("path4", "--matches", "2")
    assert run(*how, "--processes", "1", "--json", str(one)) == 0
    words = ["maps", "measure", *how, "--processes", "2", "--json", str(two)]
    subprocess.run([sys.executable, "-m", "arena", *words], check=True, timeout=50)
    assert one.read_text() == two.read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["atlantis"], 2, "no such map"),
        (["ring:65"], 2, "too large for the compiled engines: at most 64 territories"),
        (["m1", "--matches", "1"], 2, "--matches"),
    ],
)
def test_what_cannot_be_measured_is_told_in_a_line(
    arguments: list[str], code: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == code
    assert why in capsys.readouterr().err


def test_a_file_without_a_place_for_the_table_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "README.md"
    page.write_text("nothing here\n")
    assert run("path4", "--markdown", str(page)) == 1
    assert BEGIN in capsys.readouterr().err
    assert page.read_text() == "nothing here\n"
