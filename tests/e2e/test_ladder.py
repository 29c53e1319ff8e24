"""`arena ladder` and `arena match` as a user runs them: processes, sockets, signals."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import pytest

from arena.processes.supervisor import CANNOT_START_EXIT_CODE
from arena.protocol import record as records
from arena.protocol.codes import FORFEIT_REASONS, EndReason
from arena.protocol.timecontrol import TimeOdds
from tests.bots import command_line
from tests.bots.command_line import ARENA, Result
from tests.server.fleets import ROOT, all_gone, bot, processes_of

ENGINES = {"random", "greedy", "minimax", "alphabeta", "jamboree"}


def arena(*arguments: str, folder: Path) -> Result:
    """Return the command in a folder, in this process; its bots have processes of their own."""
    with chdir(folder):
        return command_line.arena(*arguments)


@contextmanager
def running(folder: Path, record: Path) -> Iterator[subprocess.Popen[str]]:
    """Yield a ladder that would last for hours, some matches of which are over."""
    with subprocess.Popen(
        [
            *(*ARENA, "ladder", "--bot", "random", "--bot", "greedy"),
            *("--game", "tictactoe", "--rounds", "2000", "--record", str(record)),
        ],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            until = time.monotonic() + 150
            while not record.exists() or record.read_bytes().count(b"\n") < 5:
                assert process.poll() is None
                assert time.monotonic() < until, "no match came to its end"
                time.sleep(0.05)
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def test_a_ladder_with_no_more_than_a_game(mark: str, tmp_path: Path) -> None:
    result = subprocess.run(
        # the smallest game: no engine thinks long
        [*ARENA, "ladder", "--game", "hexapawn", "--rounds", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    [file] = tmp_path.glob("ladder-*.jsonl")
    played = list(records.read_records(file))
    assert result.stderr.splitlines()[-1] == f"20 matches are in {file.name}"
    # Where other tests have the cores, time may be lost, and a match that the server was late for is played again.
    played = [record for record in played if record.result.reason is not EndReason.SERVER_FAULT]
    assert len(played) == 20
    assert not {record.result.reason for record in played} & (FORFEIT_REASONS - {EndReason.TIMEOUT})
    # Below the table stands what its last columns mean, where a match was lost on time.
    lines = [line for line in result.stdout.splitlines() if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert header[:3] == ["#", "bot", "games"]
    assert {row[1] for row in rows} == ENGINES
    assert all(row[2] == "8" for row in rows)
    assert all_gone(mark)


def test_the_example_ladder(mark: str, tmp_path: Path) -> None:
    options = ("--map", "path4", "--rounds", "1", "--tc", "0.05/move", "--margin", "30000")
    written = ("--record", "r.jsonl", "--json", "-")
    result = arena("ladder", str(ROOT / "examples" / "ladder.toml"), *options, *written, folder=tmp_path)
    assert result.code == 0, result
    data: dict[str, Any] = json.loads(result.stdout)
    assert (data["event"], data["matches"], data["played"], data["void"]) == ("example", 6, 6, 0)
    assert {row["bot"] for row in data["table"]} == {"greedy", "four-plies", "mine"}
    played = list(records.read_records(tmp_path / "r.jsonl"))
    assert {(record.setup["map"], record.time_control) for record in played} == {("path4", "0.05/move")}
    assert all_gone(mark)


def test_a_bot_that_crashes_is_named_and_the_ladder_goes_on(mark: str, tmp_path: Path) -> None:
    command = json.dumps(list(bot("", "crash-once", tmp_path / "once").command))
    (tmp_path / "ladder.toml").write_text(
        'game = "tictactoe"\ntime_control = "120/move"\nrounds = 2\nconcurrency = 1\n[[bots]]\nengine = "random"\n'
        f'[[bots]]\nname = "clumsy"\ncommand = {command}\n'
    )
    result = arena("ladder", "ladder.toml", "--json", "table.json", folder=tmp_path)
    assert result.code == 0, result
    assert "bot clumsy ended unexpectedly (exit code 1); it is started again\n" in result.stderr
    assert "\n    RuntimeError: a bug in the bot\n" in result.stderr
    rows = {row["bot"]: row for row in json.loads((tmp_path / "table.json").read_text())["table"]}
    assert (rows["clumsy"]["crash"], rows["clumsy"]["games"]) == (1, 4)
    assert rows["random"]["gone"] == 0
    assert "lost connection" in result.stdout  # the legend of what is in the table
    assert all_gone(mark)


def test_a_signal_stops_at_once_and_keeps_finished_matches(mark: str, tmp_path: Path) -> None:
    """Ctrl-C has the same handler: tests/ladder/commands/test_play_plan.py sends it."""
    record = tmp_path / "r.jsonl"
    with running(tmp_path, record) as process:
        assert len(processes_of(mark)) >= 5  # the ladder, two bots, their supervisors
        process.send_signal(signal.SIGTERM)
        told, _ = process.communicate(timeout=500)
        assert process.returncode == 130
        assert not processes_of(mark)
    # On a busy machine a match may be void, which counts for nobody, and lines below the table say what was lost.
    matches = [
        each for each in records.read_records(record) if each.result.reason is not EndReason.SERVER_FAULT
    ]
    assert record.read_bytes().endswith(b"\n")
    _, _, *rows = [line.split("|") for line in told.splitlines() if line.startswith("|")]
    assert [int(row[3]) for row in rows] == [len(matches)] * 2


def test_kill_9_leaves_no_process_and_whole_lines(mark: str, tmp_path: Path) -> None:
    record = tmp_path / "r.jsonl"
    with running(tmp_path, record) as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(150)
        assert all_gone(mark)
    assert len(list(records.read_records(record))) >= 5
    assert record.read_bytes().endswith(b"\n")


def test_a_match_tells_the_difference_and_its_error(mark: str, tmp_path: Path) -> None:
    options = ("--game", "tictactoe", "--rounds", "40", "--sprt", "elo0=0,elo1=200")
    quick = (
        "--tc",
        "60/move",  # the depth bounds the search: within little time, a busy machine would choose the moves
        "--margin",
        "60000",
        "--json",
        "m.json",
        "--csv",
        "m.csv",
        "--html",
        "m.html",
    )
    sides = ("--name-a", "strong", "--name-b", "weak", "--tc-b", "1+0.1", "--record", "m.jsonl")
    result = arena("match", "minimax:depth=3", "random", *options, *quick, *sides, folder=tmp_path)
    assert result.code == 0, result
    data = json.loads((tmp_path / "m.json").read_text())
    assert data["sprt"]["verdict"] == "H1"
    assert data["played"] < data["matches"] == 80  # it stopped when that was settled
    assert data["difference"]["elo"] > 100
    assert 0 < data["difference"]["error"] < 1000
    # A pair whose second match was not over when the test was settled does not count.
    assert data["played"] - 2 <= 2 * sum(data["pairs"]) <= data["played"]
    assert "strong against weak: +" in result.stdout
    assert "SPRT: H1 accepted" in result.stdout
    so_far = re.findall(
        r"^(\d+) pairs?: strong against weak: \+\S+ Elo \(95 %: \S+ to \S+\), LLR (\S+) in",
        result.stderr,
        re.MULTILINE,
    )
    assert [int(pairs) for pairs, _ in so_far] == list(range(1, sum(data["pairs"]) + 1))
    assert float(so_far[-1][1]) == pytest.approx(data["sprt"]["llr"], abs=0.006)
    # One result has one Elo: the table's two are as far apart as the pairs say, in every form, and under one word.
    strong, weak = data["table"]
    assert strong["elo"] - weak["elo"] == pytest.approx(data["difference"]["elo"])
    words, *lines = [line.split(",") for line in (tmp_path / "m.csv").read_text().splitlines()]
    assert words == list(strong)
    assert [float(line[words.index("elo")]) for line in lines] == [strong["elo"], weak["elo"]]
    page = (tmp_path / "m.html").read_text()
    assert "SPRT: H1 accepted" in page
    assert f"{strong['elo']:+z.0f}" in page
    for each in records.read_records(tmp_path / "m.jsonl"):
        seat = "maxie" if each.players.maxie == "weak" else "minnie"
        assert (each.time_control, each.time_odds) == ("60/move", TimeOdds(**{seat: "1+0.1"}))
        assert {each.players.maxie, each.players.minnie} == {"strong", "weak"}
    assert all_gone(mark)


@pytest.mark.smoke
def test_an_engine_against_itself(mark: str, tmp_path: Path) -> None:
    # with less time, a busy machine would choose the moves
    options = (
        "--game",
        "tictactoe",
        "--tc",
        "60/move",
        "--rounds",
        "1",
        "--concurrency",
        "1",
        "--json",
        "m.json",
    )
    result = arena("match", "greedy", "greedy", *options, folder=tmp_path)
    assert result.code == 0, result
    assert "\n1 pair, points of greedy per pair: 1 × 1\n" in result.stdout
    data = json.loads((tmp_path / "m.json").read_text())
    assert {row["bot"] for row in data["table"]} == {"greedy", "greedy-2"}
    assert data["difference"]["elo"] == 0
    assert all_gone(mark)


PROGRAM = """\
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    if said["type"] in ("start", "turn"):
        answer = {"ready": True} if said["type"] == "start" else {"move": said["legal"][0]}
        print(json.dumps(answer), flush=True)
"""


def test_programs_play_on_either_side(mark: str, tmp_path: Path) -> None:
    (tmp_path / "lines.py").write_text(PROGRAM)
    dials = f"command:{sys.executable} -P -m arena bot greedy"
    options = ("--game", "tictactoe", "--rounds", "1", "--tc", "120+1", "--json", "-")
    result = arena(
        "match", f"exec:{sys.executable} lines.py", dials, "--name-b", "dials", *options, folder=tmp_path
    )
    assert result.code == 0, result
    data = json.loads(result.stdout)
    assert {row["bot"] for row in data["table"]} == {"lines", "dials"}
    assert all(row["crash"] + row["gone"] + row["other"] == 0 for row in data["table"])
    assert data["played"] == 2
    assert all_gone(mark)


def test_supervisor_and_command_line_agree_on_bad_usage() -> None:
    assert (
        CANNOT_START_EXIT_CODE == 2
    )  # the exit code of bad usage: a bot that was started wrongly ends the ladder
