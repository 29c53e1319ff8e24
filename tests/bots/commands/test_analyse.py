"""`arena analyse`, as users type it."""

from __future__ import annotations

import json

import pytest

from tests.bots.command_line import arena


def test_analyse_reports_every_depth() -> None:
    words = ("analyse", "--game", "tictactoe", "--position", "XX.OO....", "--depth", "5", "--json", "-")
    for engine in ("minimax", "alphabeta", "jamboree:form=course,prune=0.2,threads=2"):
        code, printed, _ = arena(*words, "--engine", engine)
        data = json.loads(printed)
        assert code == 0
        assert [each["depth"] for each in data["reports"]] == [1]
        assert (data["reports"][0]["move"], data["reports"][0]["value"]) == (2, 999_999)
        assert data["lines"] == data["reports"]
        assert data["lines"][0]["chance"] == 1


def test_analyse_shows_a_table_and_the_solved_values() -> None:
    code, printed, _ = arena("analyse", "--map", "path4", "--depth", "3", "--engine", "minimax")
    assert code == 0
    assert printed.splitlines()[0].replace("|", "").split() == ["depth", "value", "chance", "nodes", "line"]
    assert printed.splitlines()[-1].startswith("maxie plays ")
    assert printed.splitlines()[-2] == "by the solved table: loss in 16 plies: 0 1"
    assert len(printed.splitlines()) == 7


def test_lines_are_the_best_moves_of_an_engine() -> None:
    words = ("analyse", "--nodes", "2000", "--lines", "3")
    _, printed, _ = arena(*words)
    _, written, _ = arena(*words, "--json", "-")
    data = json.loads(written)
    assert len({tuple(each["move"]) for each in data["lines"]}) == 3
    assert all(0 < each["chance"] < 1 for each in data["lines"])
    table = printed.splitlines()[printed.splitlines().index("") + 1 :]
    assert [row.split()[1] for row in table[2:-1]] == [str(each["depth"]) for each in data["lines"]]
    assert table[-1] == f"maxie plays {data['lines'][0]['line'][0]}"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ["--engine", "alphabeta:exact=yes", "--map", "grid:9x8"],
            2,
            "and its Python search is always exact: leave out the option `exact`",
        ),
        (
            ["--engine", "jamboree:form=tests", "--game", "hexapawn"],
            2,
            "has only form=course: write form=course",
        ),
        (["--engine", "alphabeta:truth=root"], 2, "leave out the option `truth`, which is for matches"),
        (["--budget", "100"], 2, "--budget needs --compare"),
        (["--svg", "-"], 2, "--svg needs --compare"),
        (
            ["--compare", "--lines", "2"],
            2,
            "--compare searches with every algorithm: leave out --lines",
        ),
        (
            ["--compare", "--engine", "minimax"],
            2,
            "--compare searches with every algorithm: leave out --engine",
        ),
        (
            ["--game", "hexapawn:width=0"],
            2,
            "--game: hexapawn: width must be a whole number from 1 to 26",
        ),
        (["--engine", "x"], 2, "no engine that searches is called 'x'"),
        (["--position", "x"], 2, "--position: a position must be 20 numbers of armies"),
        (
            ["--game", "tictactoe", "--position", "XXXOO...."],
            2,
            "the match is over in this position: maxie wins (line)",
        ),
        (["--game", "tictactoe", "--depth", "0"], 2, "--depth"),
        (
            ["--compare", "--map", "world", "--budget", "10"],
            1,
            "10 leaves are not enough for depth 1; give more",
        ),
    ],
)
def test_mistakes_are_reported_in_one_line(words: list[str], code: int, message: str) -> None:
    left, _, complaint = arena("analyse", *words)
    assert left == code
    assert message in complaint
    assert len(complaint.splitlines()) == 1
