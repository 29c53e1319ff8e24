"""The bots of examples/ play whole ladders against built-in ones, on a real server, as processes."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from arena.protocol.codes import EndReason
from arena.protocol.record import read_records
from testkit.node_packages import copy_program_with_node_packages
from testkit.tools import mark_requires, skip_without
from tests.bots.command_line import ARENA, environment

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    skip_without("gcc")
    program = tmp_path_factory.mktemp("c") / "bot"
    subprocess.run(
        ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, EXAMPLES / "bot.c"], check=True
    )
    return program


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return bot.js in a folder of its own, with its two packages."""
    return copy_program_with_node_packages(EXAMPLES / "bot.js", tmp_path_factory.mktemp("js"))


def ladder(folder: Path, bots: dict[str, list[str]]) -> None:
    """Play `greedy` against each bot; no match may end otherwise than by the rules."""
    tables = [
        f"[[bots]]\nname = {msgspec.json.encode(name).decode()}\ncommand = {msgspec.json.encode(words).decode()}\n"
        for name, words in {"greedy": [*ARENA, "bot", "greedy"], **bots}.items()
    ]
    head = 'game = "riskless"\nmaps = ["m2"]\nformat = "gauntlet"\nrounds = 1\ntime_control = "4+0.2"\nmargin = 5000\n'
    (folder / "ladder.toml").write_text(head + "\n".join(tables))
    result = subprocess.run(
        [*ARENA, "ladder", "ladder.toml", "--record", "record.jsonl"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert result.returncode == 0, result.stderr
    records = list(read_records(folder / "record.jsonl"))
    assert len(records) == 2 * len(bots)
    by_the_rules = {EndReason.ELIMINATION, EndReason.ARMIES, EndReason.BOTH_ARMIES}
    by_the_rules |= {EndReason.PLY_LIMIT, EndReason.ADJUDICATED}
    assert {record.result.reason for record in records} <= by_the_rules, result.stdout


def test_javascript_and_c(script: Path, compiled: Path, tmp_path: Path) -> None:
    c = [*ARENA, "bot", "--exec", shlex.quote(str(compiled))]
    ladder(tmp_path, {"js": ["node", str(script)], "c": c})


@mark_requires("perl")
def test_python_and_perl(tmp_path: Path) -> None:
    perl = shlex.join(["perl", str(EXAMPLES / "bot.pl")])
    bots = {
        "wire": [sys.executable, str(EXAMPLES / "bot.py")],
        "camel": [*ARENA, "bot", "--exec", perl],
    }
    ladder(tmp_path, bots)


def test_the_python_example_needs_two_packages_only() -> None:
    lines = (EXAMPLES / "bot.py").read_text(encoding="utf-8").splitlines()
    imported = {line.split()[1].split(".")[0] for line in lines if line.startswith(("import ", "from "))}
    assert imported - set(sys.stdlib_module_names) == {"msgpack", "websockets"}
