"""`arena check`: its table, its JSON, its exit codes and its errors."""

from __future__ import annotations

import gc
import json
import re
import shlex
import socket
import sys
import warnings
from pathlib import Path

import pytest

from tests.bots.command_line import arena, fails

FAULTY = f"{shlex.quote(sys.executable)} -m tests.faulty."
EXAMPLES = Path(__file__).parents[3] / "examples"
GENEROUS = ("--margin", "60000", "--patience", "60")


def test_a_fault_is_reported_with_its_frames() -> None:
    result = arena("check", "--command", FAULTY + "moves.illegal", "--only", "tictactoe as maxie", *GENEROUS)
    assert result.code == 1
    assert "| tictactoe as maxie | failed  | the move at ply 2 is invalid: illegal move b2" in result.stdout
    assert '  > {"type":"move","match":' in result.stdout
    assert result.stderr.endswith("arena: 1 of 2 checks failed: tictactoe as maxie\n")


def test_json_has_every_finding() -> None:
    result = arena(
        "check",
        "--command",
        FAULTY + "moves.wrong_ply",
        "--only",
        "tictactoe as minnie",
        "--json",
        "-",
        *GENEROUS,
    )
    assert result.code == 1
    handshake, match = json.loads(result.stdout)
    assert (handshake["check"], handshake["verdict"], handshake["why"]) == ("handshake", "passed", "")
    assert "not 2" in match["why"]
    assert match["frames"]


def test_the_output_of_a_bot_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("print('no server')\n1 / 0\n")
    command = shlex.join((sys.executable, str(file)))
    result = arena("check", "--command", command, *GENEROUS)
    assert result.code == 1
    assert "ZeroDivisionError" in result.stdout
    assert result.stdout.count("| ") < 12  # only the handshake, not twenty skipped checks
    skipped = re.search(
        r"^(\d+) more checks are skipped: the bot could not be reached$", result.stderr, re.MULTILINE
    )
    failed = re.search(r"^arena: 1 of (\d+) checks failed: handshake$", result.stderr, re.MULTILINE)
    assert skipped
    assert failed
    assert int(skipped[1]) + 1 == int(failed[1]) > 20


def test_only_the_requested_checks_run() -> None:
    command = shlex.join([sys.executable, str(EXAMPLES / "bot.py")])
    result = arena(
        "check", "--command", command, "--only", "two at once", "--only", "dropped connection", *GENEROUS
    )
    assert result.code == 0, result
    assert [line.split("|")[1].strip() for line in result.stdout.splitlines()[2:]] == [
        "handshake",
        "two at once",
        "dropped connection",
    ]


@pytest.mark.slow
def test_an_unknown_check_is_refused_with_the_valid_ones() -> None:
    result = arena("check", "random", "--only", "weather", *GENEROUS)
    assert result.code == 2
    assert "arena: --only: no check is called weather: choose from handshake, tictactoe" in result.stderr


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("give exactly one bot", ()),
        ("give exactly one bot", ("random", "--dial-in")),
        ("--tc", ("random", "--tc", "soon")),
        ("is not a valid command line", ("--command", "'")),
        ("write the program", ("--command", " ")),
    ],
)
def test_misuse(message: str, arguments: tuple[str, ...]) -> None:
    fails(message, 2, "check", *arguments)


def test_a_port_in_use_is_reported_with_a_remedy_and_leaves_no_stream_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        why = f"cannot listen on 127.0.0.1:{port}: the port is in use; give another --host or --port"
        gc.collect()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fails(why, 1, "check", "--dial-in", "--port", str(port))
            gc.collect()
    assert [str(warning.message) for warning in caught] == []


@pytest.mark.slow
def test_the_check_of_a_bot_that_never_moves_ends(tmp_path: Path) -> None:
    file = tmp_path / "hangs.py"
    file.write_text(
        "import time\n\nfrom arena import Bot\n\nclass Hangs(Bot):\n    def choose(self, position, clock):\n"
        "        while True:\n            time.sleep(0.05)\n"
    )
    result = arena("check", file, "--only", "tictactoe as maxie", "--tc", "0.1/move", "--patience", "15")
    assert result.code == 1
    assert "| tictactoe as maxie | failed  |" in result.stdout
    assert result.stderr.endswith("arena: 1 of 2 checks failed: tictactoe as maxie\n")
