"""`arena trace` and `arena analyse` as a person types them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from arena.bots.search.deepening import MAX_DEPTH
from tests.bots.command_line import arena

SVG = "{http://www.w3.org/2000/svg}"


def test_trace_as_json(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    path.write_text(
        '{"player": "minnie", "tree": {"children": [{"value": 2}, {"value": 1}]}}', encoding="utf-8"
    )
    code, printed, _ = arena("trace", str(path), "failsoft", "--json", "-")
    data = json.loads(printed)
    assert (code, data["value"], data["move"], data["nodes"]) == (0, 1, 1, 3)
    assert data["trace"][-2:] == ["Terminals visited: 2", "Overall choice: move 1[right]"]
    assert (data["held"], data["savings"]) == (0, [])


def test_svg_to_the_output() -> None:
    _, printed, _ = arena("trace", "Holden", "clamped", "--svg", "-")
    assert ET.fromstring(printed).tag == f"{SVG}svg"


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


def test_analyse_shows_lines_as_a_person_types_them() -> None:
    code, printed, _ = arena("analyse", "--map", "path4", "--depth", "3", "--engine", "minimax")
    assert code == 0
    assert printed.splitlines()[0].replace("|", "").split() == ["depth", "value", "chance", "nodes", "line"]
    assert printed.splitlines()[-1].startswith("maxie plays ")
    assert printed.splitlines()[-2] == "by the solved table: loss in 16 plies: 0 1"
    assert len(printed.splitlines()) == 7


def test_a_game_is_traced_from_any_position() -> None:
    _, printed, _ = arena("trace", "hexapawn", "alphabeta", "--depth", "2")
    assert "F: state (Maxie,BBB/.../WWW maxie 0) with ab=(Leaf(Minnie wins!),Leaf(Maxie wins!))" in printed
    assert "Estimating state BBB/W../.WW minnie 1[0]" not in printed
    assert "Estimating state" in printed
    words = ("tictactoe", "scouts", "--position", "XX.OO....", "--depth", "5", "--summary")
    code, printed, _ = arena("trace", *words)
    assert (code, printed.splitlines()) == (
        0,
        [
            "Therefore value of (Maxie,XX.OO....) is Maxie wins in 1, and best move is c1.",
            "Terminals visited: 13",
            "Overall choice: move c1",
        ],
    )
    code, _, complaint = arena("trace", *words, "--results")
    assert (code, complaint) == (0, "")


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
    ("words", "code", "told"),
    [
        (["trace", "x", "minimax"], 2, "no tree is called 'x': choose from Cuts, HandoutBig"),
        (["trace", "hexapawn:width=0", "minimax"], 2, "hexapawn: width must be a whole number from 1 to 26"),
        (
            ["trace", "tictactoe", "minimax", "--position", "x", "--depth", "1"],
            2,
            "--position: 'x' is not a board",
        ),
        (["trace", "Intro", "x"], 2, "no algorithm is called 'x': choose from minimax"),
        (
            ["trace", "Intro", "lazy:dynamic=1"],
            2,
            "lazy: the option dynamic works only with riskless, because ",
        ),
        (
            ["trace", "Intro", "lazy:take=1"],
            2,
            "lazy has no option 'take': choose from evaluator, keep, dynamic",
        ),
        (["trace", "Intro", "minimax:prune=1"], 2, "minimax has no option 'prune': choose from evaluator"),
        (["trace", "Intro", "jamboree:prune=2"], 2, "jamboree: prune must be a number from 0 to 1, not '2'"),
        (["trace", "Intro", "minimax:evaluator=x"], 2, "no evaluator is called 'x'"),
        (["trace", "Intro", "minimax"], 1, "Intro, minimax to depth 2: cannot estimate node g"),
        (
            ["analyse", "--engine", "alphabeta:exact=yes", "--map", "grid:9x8"],
            2,
            "alphabeta: leave out exact: its Python search is always exact",
        ),
        (
            ["analyse", "--engine", "jamboree:form=tests", "--game", "hexapawn"],
            2,
            "jamboree: write form=course",
        ),
        (["analyse", "--engine", "alphabeta:truth=root"], 2, "truth is an option for matches"),
        (["trace", "HandoutSmall", "minimax:evaluator=features"], 2, "explicit has no evaluation features"),
        (["analyse", "--budget", "100"], 2, "--budget needs --compare"),
        (["analyse", "--svg", "-"], 2, "--svg needs --compare"),
        (
            ["analyse", "--compare", "--lines", "2"],
            2,
            "--compare searches with every algorithm: leave out --lines",
        ),
        (
            ["analyse", "--compare", "--engine", "minimax"],
            2,
            "--compare searches with every algorithm: leave out --engine",
        ),
        (
            ["analyse", "--game", "hexapawn:width=0"],
            2,
            "--game: hexapawn: width must be a whole number from 1 to 26",
        ),
        (["trace", "Intro", "alphabeta", "--depth", "1"], 1, "cannot estimate node b: it is an inner node"),
        (["analyse", "--engine", "x"], 2, "no engine that searches is called 'x'"),
        (["analyse", "--position", "x"], 2, "--position: a position must be 20 signed armies"),
        (
            ["analyse", "--game", "tictactoe", "--position", "XXXOO...."],
            2,
            "the match is over in this position: maxie wins (line)",
        ),
        (["analyse", "--game", "tictactoe", "--depth", "0"], 2, "--depth"),
        (
            ["analyse", "--compare", "--map", "world", "--budget", "10"],
            1,
            "10 leaves are not enough for depth 1; give more",
        ),
    ],
)
def test_mistakes_are_told_in_one_line(words: list[str], code: int, told: str) -> None:
    left, _, complaint = arena(*words)
    assert left == code
    assert told in complaint
    assert len(complaint.splitlines()) == 1


def chain(plies: int) -> str:
    """Return a tree as JSON in which every node has one child."""
    return '{"children": [' * plies + '{"value": 5}' + "]}" * plies


def test_a_tree_deeper_than_recursion_goes(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text(chain(MAX_DEPTH + 50), encoding="utf-8")
    code, printed, _ = arena("trace", str(path), "stack-alphabeta")
    assert (code, printed.splitlines()[-2]) == (0, "Terminals visited: 1")
    assert "is Guess: 5" in printed.splitlines()[-3]
    code, _, complaint = arena("trace", str(path), "minimax")
    assert code == 2
    assert complaint == (
        "arena: --depth: minimax searches at most 100 plies, not 150; "
        "to search deeper, use stack-minimax, stack-alphabeta, stack-memo\n"
    )
    path.write_text(chain(50_000), encoding="utf-8")
    code, _, complaint = arena("trace", str(path), "stack-minimax")
    assert code == 2
    assert complaint.endswith("nested too deeply: a tree may be at most a few hundred plies deep\n")


def test_a_map_is_traced_as_deep_as_is_said() -> None:
    """The look-ahead goes on where armies are under attack, and what that saves is told."""
    code, printed, _ = arena("trace", "path4", "lazy:dynamic=2", "--depth", "3", "--json", "-")
    data = json.loads(printed)
    assert code == 0
    assert any("maxie 4" in line for line in data["trace"]), "a ply beyond the depth"
    assert data["trace"][-1].startswith("3 plies, up to 5 where armies are attacked: ")
    assert [each["nodes"] for each in data["savings"]] == [data["nodes"]] * 2
    assert data["savings"][0]["whole_nodes"] < data["nodes"] < data["savings"][1]["whole_nodes"]
    assert 0 < data["held"] < data["nodes"]
    code, _, complaint = arena("trace", "path4", "minimax")
    assert (code, complaint) == (
        2,
        "arena: --depth is needed for path4: give the number of plies to search, e.g. --depth 3\n",
    )


def test_a_trace_too_large_for_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.bots.review.analysis.MAX_TRACED_NODES", 1_000)
    assert arena("trace", "path4", "minimax", "--depth", "40") == (
        1,
        "",
        "arena: --depth: minimax visits more than 1,000 nodes at depth 40, too many to show: give a smaller depth\n",
    )
