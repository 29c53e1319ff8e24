"""`arena replay`: a list, all plies, one ply, and keys at a real pseudo-terminal."""

import json
import sys
import termios
import time
from pathlib import Path

import pexpect
import pytest
from msgspec import structs

from arena.maps.game_on_map import make_game_on_map
from arena.protocol.codes import EndReason
from arena.protocol.record import RecordedMove, Result, format_record_line
from tests.bots.command_line import ARENA, arena, environment, fails
from tests.match.recorded import random_record

GAME = make_game_on_map("tictactoe")


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """Return a file with one match of five plies, in which Maxie completes the first row."""
    record, _ = random_record(GAME)
    moves = [RecordedMove(cell, 1.0) for cell in (0, 3, 1, 4, 2)]
    file = tmp_path / "one.jsonl"
    file.write_text(
        format_record_line(structs.replace(record, moves=moves, result=Result("maxie", EndReason.LINE)))
        + "\n"
    )
    return file


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Return a file with three matches, whose ids are aa1, aa2 and b."""
    file = tmp_path / "three.jsonl"
    record, _ = random_record(GAME)
    file.write_text(
        "".join(
            format_record_line(structs.replace(record, match=match)) + "\n" for match in ("aa1", "aa2", "b")
        )
    )
    return file


def test_without_a_terminal_all_plies_are_printed(one: Path) -> None:
    result = arena("replay", one)
    assert result.code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "match id: one (maxie) - two (minnie), tictactoe, 1/move: maxie wins, line, 5 plies"
    assert [line for line in lines if line.startswith("ply ")] == [
        f"ply {ply}: {who} plays {cell}, 1 ms"
        for ply, (who, cell) in enumerate(
            zip(
                ["maxie (one)", "minnie (two)"] * 2 + ["maxie (one)"],
                ["a1", "a2", "b1", "b2", "c1"],
                strict=True,
            )
        )
    ]
    assert lines[-4:-1] == ["1 X X X", "2 O O .", "3 . . ."]


def test_one_ply_is_printed(one: Path) -> None:
    result = arena("replay", one, "--ply", "1")
    assert result.stdout.splitlines()[-4:-1] == ["1 X . .", "2 . . .", "3 . . ."]
    fails("--ply must be from 0 to 5, the end of this match, not 6", 2, "replay", one, "--ply", "6")


def test_several_matches_are_listed_until_one_is_chosen(three: Path, tmp_path: Path) -> None:
    result = arena("replay", three)
    assert result.code == 0
    assert "3 matches; choose one with --match" in result.stdout
    assert arena("replay", three, "--match", "b").stdout.startswith("match b: ")
    fails("--match: no match in", 2, "replay", three, "--match", "c")
    fails("--match: 2 matches in", 2, "replay", three, "--match", "aa")
    table = tmp_path / "table.json"
    assert arena("replay", three, "--json", table).code == 0
    assert [row["match"] for row in json.loads(table.read_text())] == ["aa1", "aa2", "b"]


def test_a_false_record_is_reported_with_file_and_line(one: Path, tmp_path: Path) -> None:
    good = one.read_text()
    bad = tmp_path / "bad.jsonl"
    fails(f"cannot read {bad}: No such file", 1, "replay", bad)
    bad.write_text("\n")
    fails(f"{bad} has no match records: give a file written by --record or `arena export`", 1, "replay", bad)
    bad.write_text(good + "{}\n")
    fails(f"{bad}, line 2: not a valid arena-record/1 record", 1, "replay", bad)
    bad.write_text("\n" + good.replace('"move":3', '"move":0'))
    fails(
        f"{bad}, line 2: match id cannot be replayed: minnie (two), ply 1: illegal move a1: a1 is taken by X",
        1,
        "replay",
        bad,
    )
    bad.write_text(good.replace('"winner":"maxie"', '"winner":"minnie"'))
    fails(
        "the record says that minnie wins (line), but its moves say that maxie wins (line)",
        1,
        "replay",
        bad,
    )


def until_keys_are_read(terminal: "pexpect.spawn[str]") -> None:
    """Wait until the program reads single keys, because it ignores keys that are typed earlier."""
    end = time.monotonic() + 500
    while termios.tcgetattr(terminal.child_fd)[3] & termios.ICANON:
        assert time.monotonic() < end
        time.sleep(0.005)


def test_keys_step_through_the_match(one: Path) -> None:
    terminal = pexpect.spawn(
        sys.executable,
        [*ARENA[1:], "replay", str(one)],
        env=environment(TERM="xterm"),
        encoding="utf-8",
        timeout=500,
        dimensions=(40, 120),
    )
    for key, shown in [
        ("", "0 of 5 plies"),
        ("\r", "1 of 5 plies"),
        (" ", "2 of 5 plies"),
        ("\x1b[C", "3 of 5 plies"),
        ("\x1b[D", "2 of 5 plies"),
        ("G", "5 of 5 plies"),
        ("n", "5 of 5 plies"),
        ("g", "0 of 5 plies"),
        ("p", "0 of 5 plies"),
        ("?", "0 of 5 plies"),
    ]:
        terminal.send(key)
        terminal.expect_exact(shown)
        until_keys_are_read(terminal)
    terminal.send("q")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
