"""`arena trace`, as users type it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from arena.bots.search.deepening import MAX_SEARCH_DEPTH
from tests.bots.command_line import arena

SVG = "{http://www.w3.org/2000/svg}"
"""Namespace of SVG elements, as ElementTree writes it."""


def test_trace_as_json(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    path.write_text(
        '{"player": "minnie", "tree": {"children": [{"value": 2}, {"value": 1}]}}', encoding="utf-8"
    )
    code, printed, _ = arena("trace", str(path), "failsoft", "--json", "-")
    data = json.loads(printed)
    assert (code, data["value"], data["move"], data["nodes"]) == (0, 1, 1, 3)
    assert data["trace"][-2:] == ["Terminals visited: 2", "Overall choice: move 1[right]"]
    assert data["held"] == 0


def test_svg_to_the_output() -> None:
    _, printed, _ = arena("trace", "Holden", "clamped", "--svg", "-")
    assert ET.fromstring(printed).tag == f"{SVG}svg"


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


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["x", "minimax"], 2, "no tree is called 'x': choose from Cuts, HandoutBig"),
        (["hexapawn:width=0", "minimax"], 2, "hexapawn: width must be a whole number from 1 to 26"),
        (
            ["tictactoe", "minimax", "--position", "x", "--depth", "1"],
            2,
            "--position: 'x' is not a board",
        ),
        (["Intro", "x"], 2, "no algorithm is called 'x': choose from minimax"),
        (
            ["Intro", "lazy:dynamic=1"],
            2,
            "lazy: the option dynamic works only with riskless, because ",
        ),
        (
            ["Intro", "lazy:take=1"],
            2,
            "lazy has no option 'take': choose from evaluator, keep, dynamic",
        ),
        (["Intro", "minimax:prune=1"], 2, "minimax has no option 'prune': choose from evaluator"),
        (["Intro", "jamboree:prune=2"], 2, "jamboree: prune must be a number from 0 to 1, not '2'"),
        (["Intro", "minimax:evaluator=x"], 2, "no evaluator is called 'x'"),
        (
            ["Intro", "minimax"],
            1,
            "minimax cannot search Intro to depth 2: node g has no value for an estimate",
        ),
        (["HandoutSmall", "minimax:evaluator=features"], 2, "explicit has no evaluation features"),
        (
            ["Intro", "alphabeta", "--depth", "1"],
            1,
            "node b has no value for an estimate, because it is an inner node",
        ),
    ],
)
def test_mistakes_are_reported_in_one_line(words: list[str], code: int, message: str) -> None:
    left, _, complaint = arena("trace", *words)
    assert left == code
    assert message in complaint
    assert len(complaint.splitlines()) == 1


def chain(plies: int) -> str:
    """Return a tree as JSON in which every node has one child."""
    return '{"children": [' * plies + '{"value": 5}' + "]}" * plies


def test_a_tree_deeper_than_the_limit_of_recursion(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text(chain(MAX_SEARCH_DEPTH + 50), encoding="utf-8")
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
    assert complaint.endswith("the tree is nested too deeply: it may be at most a few hundred plies deep\n")


def test_a_map_is_traced_to_the_given_depth() -> None:
    """The search looks deeper where armies are under attack."""
    code, printed, _ = arena("trace", "path4", "lazy:dynamic=2", "--depth", "3", "--json", "-")
    data = json.loads(printed)
    assert code == 0
    assert any("maxie 4" in line for line in data["trace"]), "a ply beyond the depth"
    assert data["trace"][-1] == f"In memory at once: at most {data['held']} of {data['nodes']} nodes"
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
