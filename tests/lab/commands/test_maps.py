"""`arena maps`: called in this process, or in another one if the output depends on the terminal."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from arena.maps.loader import MAPS_FOLDER, list_built_in_map_names
from tests.bots.command_line import ARENA, Result, arena
from tests.maps.test_map_file import GOOD


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def run_maps(*arguments: str) -> Result:
    return arena("maps", *arguments)


def test_list_prints_every_map() -> None:
    result = run_maps("list")
    assert (result.code, result.stderr) == (0, "")
    rows = {row.split()[1]: row.split() for row in result.stdout.splitlines() if row.startswith("| ")}
    assert set(list_built_in_map_names()) <= set(rows)
    assert rows["m2"][3:12:2] == ["16", "24", "10", "80", "400"]
    assert "ring:N and grid:WxH" in result.stdout


def test_list_as_json(tmp_path: Path) -> None:
    path = tmp_path / "maps.json"
    result = run_maps("list", "--json", str(path))
    assert result.code == 0
    assert "world" in result.stdout
    facts = {each["map"]: each for each in json.loads(path.read_text())}
    assert set(facts) == set(list_built_in_map_names())
    assert (facts["world"]["territories"], facts["world"]["roads"]) == (42, 83)
    assert facts["world"]["continents"]["Asia"] == 12
    assert json.loads(run_maps("list", "--json", "-").stdout) == json.loads(path.read_text())


def test_show_draws_the_map_and_prints_the_starts() -> None:
    result = run_maps("show", "usa")
    assert (result.code, result.stderr) == (0, "")
    assert "48 territories, 105 roads, cap 100; 980 armies win, ply 1000 is a draw" in result.stdout
    assert "39 Tennessee" in result.stdout
    assert "Maxie, who moves first: California (2), Florida (2)" in result.stdout
    assert "⠤" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_show_without_unicode_is_ascii() -> None:
    result = subprocess.run(
        [*ARENA, "maps", "show", "m2"],
        capture_output=True,
        encoding="ascii",
        timeout=500,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "a1 -2 ......" in result.stdout


def test_show_writes_svg(tmp_path: Path) -> None:
    path = tmp_path / "world.svg"
    result = run_maps("show", "world", "--svg", str(path))
    assert (result.code, result.stdout, result.stderr) == (0, f"wrote {path}\n", "")
    assert path.read_text(encoding="utf-8").startswith("<svg ")
    assert run_maps("show", "world", "--svg", "-").stdout == path.read_text(encoding="utf-8")
    assert run_maps("show", "ring:5", "--svg", "-").stdout.count('class="road"') == 5


def test_check_reports_ok_or_an_error(tmp_path: Path) -> None:
    shipped = [str(MAPS_FOLDER / f"{name}.toml") for name in list_built_in_map_names()]
    result = run_maps("check", *shipped)
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-1] == f"{shipped[-1]}: ok, 42 territories, 83 roads"
    good, bad, none = (tmp_path / name for name in ("good.toml", "bad.toml", "none.toml"))
    good.write_text(GOOD)
    bad.write_text(GOOD.replace("armies_to_win", "armies_to_vin"))
    result = run_maps("check", str(bad), str(good), str(none))
    assert result.code == 1
    assert result.stdout == f"{good}: ok, 3 territories, 2 roads\n"
    assert result.stderr.splitlines() == [
        f'{bad}:3: armies_to_vin: unknown key; did you mean "armies_to_win"?',
        f"{none}: No such file or directory",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (
            ["show", "m3"],
            1,
            "arena: m3: no such map: choose from italy, m1, m2, path4, poland, usa, world, ring:N, grid:WxH",
        ),
        (["show", "ring:1"], 1, "arena: ring:1: no such map: a ring must be ring:N with N from 3 to 1000"),
        (["show", "none.toml"], 1, "arena: none.toml: No such file or directory"),
        (["show", "m1", "--svg", "no/such/m1.svg"], 2, "arena: --svg: cannot write no/such/m1.svg: folder"),
        (["show"], 2, "arena: Missing argument"),
        (["check"], 2, "arena: Missing argument"),
        (["show", "m1", "--png", "x"], 2, "arena: No such option"),
    ],
)
def test_a_mistake_gives_an_error_of_one_line(arguments: list[str], code: int, error: str) -> None:
    result = run_maps(*arguments)
    assert (result.code, result.stdout) == (code, "")
    assert result.stderr.startswith(error)
    assert len(result.stderr.splitlines()) == 1


def test_a_map_is_checked_by_its_name_too() -> None:
    assert run_maps("check", "italy").stdout == "italy: ok, 20 territories, 34 roads\n"
    assert run_maps("check", "itly").stderr.startswith('itly: no such map: did you mean "italy"?')
