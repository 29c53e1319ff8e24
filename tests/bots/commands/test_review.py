"""`arena replay --analyse`: its output, files and pictures."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from msgspec import structs

from arena.bots.search.search_values import WIN_VALUE
from arena.maps.game_on_map import make_game_on_map
from arena.protocol.codes import EndReason
from arena.protocol.record import RecordedMove, Result, format_record_line
from arena.protocol.values import Thinking
from tests.bots.command_line import arena, fails
from tests.match.recorded import random_record


@pytest.fixture
def blunder(tmp_path: Path) -> Path:
    """Return a match in which Minnie lets Maxie complete the first row."""
    record, _ = random_record(make_game_on_map("tictactoe"))
    moves = [RecordedMove(cell, 1.0, Thinking(value=1.0)) for cell in (0, 3, 1, 4, 2)]
    file = tmp_path / "one.jsonl"
    file.write_text(
        format_record_line(structs.replace(record, moves=moves, result=Result("maxie", EndReason.LINE)))
        + "\n"
    )
    return file


def test_a_blunder_is_marked(blunder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "values.svg"
    result = arena("replay", blunder, "--analyse", "alphabeta", "--svg", picture)
    assert result.code == 0, result
    table = [line for line in result.stdout.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table[2:]]
    # c1, the best cell, only delays the loss: a2 at ply 1 was the move that lost the match.
    assert rows[1] == ["1", "minnie", "a2", "??", "maxie in 6", "100 %", "the match", "b2"]
    assert rows[3][:5] == ["3", "minnie", "b2", "", "maxie in 2"]
    assert rows[3][-2:] == ["2 plies", "c1"]
    assert "999998" not in result.stdout
    marks = sum(bool(row[3]) for row in rows)
    assert "minnie: 1 of 2 moves marked, 26" in result.stdout
    root = ET.fromstring(picture.read_text())
    tags = [child.tag.rpartition("}")[2] for child in root]
    assert tags.count("polyline") == 3
    assert tags.count("circle") == marks
    texts = [child.text for child in root if child.tag.endswith("text")]
    assert texts.count("??") == 1 == marks
    assert any("values in hundreds" in (text or "") for text in texts)


def test_json_has_every_move(blunder: Path) -> None:
    result = arena("replay", blunder, "--analyse", "minimax", "--depth", "2", "--json", "-")
    data = json.loads(result.stdout)
    rows = data["moves"]
    assert (data["engine"], data["players"]["minnie"]["moves"]) == ("minimax", 2)
    assert (rows[3]["mark"], rows[3]["line"][0], rows[4]["line"]) == ("??", "c1", [])
    assert [row["move"] for row in rows] == ["a1", "a2", "b1", "b2", "c1"]
    assert rows[3]["better"] == "c1"
    assert (rows[4]["after"], rows[4]["chance"], rows[4]["chance_lost"]) == (WIN_VALUE - 1, 1, 0)


def test_matches_that_cannot_be_reviewed(blunder: Path) -> None:
    fails("no engine that searches is called 'greedy'", 2, "replay", blunder, "--analyse", "greedy")
    fails(
        "evaluator must be plain, features, outcomes or a file",
        2,
        "replay",
        blunder,
        "--analyse",
        "alphabeta:evaluator=x",
    )
    fails("give --analyse", 2, "replay", blunder, "--svg", "x.svg")
    fails("give --analyse", 2, "replay", blunder, "--nodes", "1000")
