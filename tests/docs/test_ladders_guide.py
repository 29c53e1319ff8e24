"""docs/ladders.md: its ladders of this machine play as they are shown."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from arena.games.riskless import Riskless
from arena.maps.loader import load_map
from arena.protocol.record import read_records
from testkit.tools import mark_requires
from tests.bots.command_line import arena
from tests.bots.engines.programs import HONEST
from tests.bots.engines.test_submission import zipped
from tests.docs.pages import FENCED

PAGE = (Path(__file__).parents[2] / "docs" / "ladders.md").read_text(encoding="utf-8")
COMMANDS = [shlex.split(line, comments=True)[1:] for line in re.findall(r"^arena .*$", PAGE, re.MULTILINE)]
QUICK = ("--tc", "0.02/move", "--margin", "30000")
"""Little time to think, and none for a busy machine to lose a match on."""
LASTING, COMPARED, MAKING, OPENED, BOXED, ADDED, LISTED, CHECKED, ADJUDICATED, CLUSTERED, REPORTED = COMMANDS


def test_an_event_that_lasts_has_reports_is_told_again_and_not_played_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # the arguments of both commands are tried at once
    assert " ".join(REPORTED).startswith(
        "ladder --game tictactoe --bot greedy --bot minimax --rounds 2 --html "
    )
    assert LASTING[0] == "ladder"
    event = (*LASTING, "--rounds", "1", "--event", "guide", *QUICK, *REPORTED[REPORTED.index("--html") :])
    result = arena(*event)
    assert result.code == 0, result
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (tmp_path / "table.csv").read_text(encoding="utf-8").count("\n") == 4
    assert json.loads((tmp_path / "table.json").read_text())["played"] == 6
    again = arena(*event)
    assert again.code == 0, again
    table = re.compile(r"^\| \d \| (?:greedy|minimax|random) .*$", re.MULTILINE)
    assert len(table.findall(again.stdout)) == 3
    assert table.findall(again.stdout) == table.findall(result.stdout)


def test_two_sides_are_compared_and_a_match_is_adjudicated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ADJUDICATED[0] == COMPARED[0] == "match"
    adjudicated = ADJUDICATED[ADJUDICATED.index("--adjudicate") :]
    quick = ("--rounds", "1", "--map", "path4", "--margin", "30000", "--json", "table.json")
    result = arena(*COMPARED, *adjudicated, *quick)
    assert result.code == 0, result
    assert re.search(r"^\| \d \| +four-plies .*$", result.stdout, re.MULTILINE), result
    assert "SPRT" in result.stdout, result
    assert json.loads((tmp_path / "table.json").read_text())["played"] == 2


def test_openings_are_made_and_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = arena(*MAKING, "--nodes", "500", "--strengths", "100", "--count", "2", "--processes", "1")
    assert result.code == 0, result
    openings = [line for line in (tmp_path / "ring12.txt").read_text().splitlines()[2:] if line]
    bots = ("--bot", "greedy", "--bot", "random", "--rounds", "2", "--tc", "0.1/move", "--margin", "30000")
    completed = arena(*OPENED, *bots, "--record", "played.jsonl")
    assert completed.code == 0, completed
    board = Riskless(load_map("ring:12"))
    played = {
        ", ".join(
            board.move_to_text(board.move_from_data(each.move)) for each in record.moves if each.opening
        )
        for record in read_records(tmp_path / "played.jsonl")
    }
    assert played == set(openings)


@mark_requires("docker")
def test_bots_of_strangers_play_in_boxes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (ladder,) = (block for block in FENCED.findall(PAGE) if block.startswith("# boxes.toml"))
    here = f"python:{os.environ.get('PYTHON_VERSION', '3.14')}-slim"
    (tmp_path / "boxes.toml").write_text(ladder.replace("python:3.14-slim", here))
    (settings,) = re.findall(r"`(exec = [^`]*)`", PAGE.partition("| bot.toml |")[2].partition("## ")[0])
    turn = 'print(json.dumps({"move": message["legal"][-1]}), flush=True)'
    zipped(tmp_path / "camel.zip", {"bot.toml": settings, "camel.py": HONEST.replace("TURN", turn)})
    result = arena(*BOXED, "--json", "table.json")
    assert result.code == 0, result
    data = json.loads((tmp_path / "table.json").read_text())
    assert [*data["cpu_ms"]] == ["camel"]
    assert data["cpu_ms"]["camel"] > 0
    table = {row["bot"]: row for row in data["table"]}
    assert {name: row["games"] for name, row in table.items()} == {"greedy": 4, "camel": 4}
    assert not table["camel"]["crash"]
    added = arena(*ADDED)
    assert added.code == 0, added
    assert "python3 camel.py" in arena(*LISTED).stdout
    checked = arena(*CHECKED, "--image", here, "--margin", "2000")
    assert checked.code == 0, checked
    assert re.search(r"^\| \d \| camel-2 ", checked.stdout, re.MULTILINE), checked
