"""`arena replay --analyse`: what is printed, written and drawn."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from msgspec import structs

from arena.bots.review.plot import review_svg
from arena.bots.search.values import WIN
from arena.maps.setup import make_setup
from arena.protocol.codes import EndReason
from arena.protocol.record import RecordedMove, Result, to_line
from arena.protocol.values import Thinking
from tests.bots.command_line import arena, fails
from tests.match.recorded import recorded


@pytest.fixture
def blunder(tmp_path: Path) -> Path:
    """Minnie lets maxie complete the first row."""
    record, _ = recorded(make_setup("tictactoe"))
    moves = [RecordedMove(cell, 1.0, Thinking(value=1.0)) for cell in (0, 3, 1, 4, 2)]
    file = tmp_path / "one.jsonl"
    file.write_text(
        to_line(structs.replace(record, moves=moves, result=Result("maxie", EndReason.LINE))) + "\n"
    )
    return file


def test_a_thrown_game_is_marked(blunder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "values.svg"
    told = arena("replay", blunder, "--analyse", "alphabeta", "--depth", "2", "--svg", picture)
    assert told.code == 0, told
    (marked,) = (line for line in told.stdout.splitlines() if "??" in line)
    assert [cell.strip() for cell in marked.split("│")[1:8]][:4] == ["3", "minnie", "b2", "??"]
    assert "c1" in marked
    assert "the match" in marked
    assert "maxie in 2" in marked
    assert "999998" not in told.stdout
    marks = sum("│ ? " in line or "│ ??" in line for line in told.stdout.splitlines())
    assert marks > 1
    drawn = ET.fromstring(picture.read_text())
    tags = [child.tag.rpartition("}")[2] for child in drawn]
    assert tags.count("polyline") == 3
    assert tags.count("circle") == marks
    texts = [child.text for child in drawn if child.tag.endswith("text")]
    assert texts.count("??") == 1
    assert any("values in hundreds" in (text or "") for text in texts)
    assert sum(text in ("?", "??") for text in texts) == marks


def test_json_has_every_move(blunder: Path) -> None:
    told = arena("replay", blunder, "--analyse", "minimax", "--depth", "2", "--json", "-")
    rows = json.loads(told.stdout)
    assert [row["move"] for row in rows] == ["a1", "a2", "b1", "b2", "c1"]
    assert rows[3]["better"] == "c1"
    assert rows[4]["after"] == WIN - 1


def test_what_cannot_be_judged(blunder: Path) -> None:
    fails("no engine that searches is called 'greedy'", 2, "replay", blunder, "--analyse", "greedy")
    fails("no evaluator is called 'x'", 2, "replay", blunder, "--analyse", "alphabeta:evaluator=x")
    fails("give --analyse", 2, "replay", blunder, "--svg", "x.svg")
    with pytest.raises(ValueError, match="nothing to draw"):
        review_svg([], "", ("a", "b"), "minimax")
