"""`arena openings make`: a file that a ladder can use, and errors of one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from arena.lab import opening_search
from arena.lab.opening_search import make_openings
from arena.maps.game_on_map import make_game_on_map
from arena.maps.openings_file import BadOpenings, read_openings
from arena.protocol.values import Opening
from tests.bots.command_line import arena, fails

QUICK = (
    "--nodes", "500", "--plies", "4", "--count", "5", "--processes", "1", "--window", "40", "--strengths", "50,200",
)  # fmt: skip


def test_ladders_can_use_the_file_and_the_same_seed_makes_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = arena("openings", "make", "--map", "m1", *QUICK)
    assert result.code == 0, result
    assert result.stderr.splitlines()[-1] == "5 openings are in m1-openings.txt"
    again = arena("openings", "make", "--map", "m1", *QUICK, "--output", "-")
    file = tmp_path / "m1-openings.txt"
    assert again.stdout == file.read_text()
    other = arena("openings", "make", "--map", "m1", *QUICK, "--output", "-", "--seed", "2")
    assert other.stdout != again.stdout
    assert "--map m1 --plies 4 --count 5 --engine alphabeta --nodes 500" in again.stdout
    [listed] = read_openings(file, [make_game_on_map("riskless", "m1")])
    assert len({repr(opening) for opening in listed}) == 5
    with pytest.raises(BadOpenings, match="made for another map"):
        read_openings(file, [make_game_on_map("riskless", "m2")])
    completed = arena(
        "match", "greedy", "random", "--map", "m1", "--openings", "m1-openings.txt", "--rounds", "1",
        "--tc", "0.2/move", "--margin", "1000", "--record", "played.jsonl",
    )  # fmt: skip
    assert completed.code == 0, completed
    fails(
        "these openings are for riskless",
        2,
        "match",
        "greedy",
        "random",
        "--game",
        "tictactoe",
        "--openings",
        file,
    )


def test_openings_found_before_ctrl_c_are_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make_two(*arguments: Any, **how: Any) -> Iterator[Opening]:
        yield from islice(make_openings(*arguments, **how), 2)
        raise KeyboardInterrupt

    how = ("openings", "make", "--map", "m1", *QUICK, "--output")
    with monkeypatch.context() as patched:
        patched.setattr(opening_search, "make_openings", make_two)
        cut = arena(*how, tmp_path / "cut.txt")
    assert cut.code == 130
    assert cut.stderr.splitlines()[-2:] == [f"2 openings are in {tmp_path / 'cut.txt'}", "arena: stopped"]
    assert arena(*how, tmp_path / "two.txt", "--count", "2").code == 0
    assert (tmp_path / "cut.txt").read_text() == (tmp_path / "two.txt").read_text()


def test_fewer_openings_than_wanted_are_reported(tmp_path: Path) -> None:
    how = (
        "--nodes",
        "500",
        "--plies",
        "2",
        "--count",
        "9",
        "--processes",
        "1",
        "--window",
        "50",
        "--gap",
        "0",
        "--strengths",
        "50",
    )
    result = arena("openings", "make", "--map", "m1", *how, "--output", tmp_path / "few.txt")
    assert result.code == 0, result
    assert re.match(r"[1-8] openings are in", result.stderr)
    assert "no more were found among 20" in result.stderr


@pytest.mark.parametrize(
    ("why", "code", "arguments"),
    [
        ("no such map", 2, ["--map", "atlantis"]),
        ("too large for the compiled engines", 2, ["--map", "ring:65"]),
        ("--engine: no engine is called 'greedy': choose from alphabeta", 2, ["--engine", "greedy"]),
        ("--engine: alphabeta has no option 'threads'", 2, ["--engine", "alphabeta:threads=2"]),
        (
            "--engine: set the number of nodes with --nodes, not with the engine's option nodes",
            2,
            ["--engine", "alphabeta:nodes=2000"],
        ),
        (
            "--strengths: must be whole numbers from 1 to 1,000,000,000, separated by commas, not '500,much'",
            2,
            ["--strengths", "500,much"],
        ),
        ("evaluator must be plain, features", 2, ["--engine", "alphabeta:evaluator=wise"]),
        (
            "openings of 3 plies on path4 passed the tests",
            1,
            ["--map", "path4", "--plies", "3", "--processes", "1", "--strengths", "20,60"],
        ),
        ("folder no/such does not exist", 2, ["--map", "m1", *QUICK, "--output", "no/such/folder.txt"]),
    ],
)
def test_an_impossible_option_gives_an_error_of_one_line(why: str, code: int, arguments: list[str]) -> None:
    fails(why, code, "openings", "make", *arguments)
