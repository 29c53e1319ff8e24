"""docs/learning.md, typed word for word: its programs run one after another in an empty folder."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from testkit.tools import find_missing_tool_reason, skip_without
from tests.bots.command_line import arena
from tests.bots.evaluators.networks import make_random_network, save_network

PAGE = (Path(__file__).parents[2] / "docs" / "learning.md").read_text(encoding="utf-8")
NEEDS_EXTRA = re.compile(r"train\.py|export\.py|learned\.py")
TRAINED = re.compile(r"train\.py (\S+)")
PARTS = re.findall(r"^```(python|sh)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


SMALLER = (
    (r"(selfplay\.py \S+ \S+) \d+", r"\1 5"),
    (r"(train\.py \S+) \d+", r"\1 40"),
    (r"--rounds 25", "--rounds 1"),
)
"""A test's numbers of matches and steps for those of the page."""


def ran(folder: Path, *words: str) -> str:
    result = subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=900
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def typed(folder: Path, line: str) -> str:
    for words, fewer in SMALLER:
        line = re.sub(words, fewer, line)
    program, *arguments = shlex.split(line)
    if program == "python":
        return ran(folder, *arguments)
    result = arena(*arguments)
    assert result.code == 0, result
    return result.stdout


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_guides_commands_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that no command names runs where it stands; the others are files that the commands find."""
    skip_without("numba")
    monkeypatch.chdir(tmp_path)
    commands = "".join(text for kind, text in PARTS if kind == "sh")
    outputs: dict[str, str] = {}
    for kind, text in PARTS:
        if kind == "python":
            name = text.split("\n", 1)[0].removeprefix("# ")
            (tmp_path / name).write_text(text, encoding="utf-8")
            if name not in commands:
                outputs[name] = ran(tmp_path, name)
            continue
        for line in text.splitlines():
            if find_missing_tool_reason("learn") is None or not NEEDS_EXTRA.search(line):
                outputs[line] = typed(tmp_path, line)
            elif trained := TRAINED.search(
                line
            ):  # the rest of the page goes on with a network of random weights
                save_network(make_random_network(1), tmp_path / trained[1])
    assert re.search(r"(wins|draw) .*reward for Maxie: -?[01]", outputs["one.py"])
    assert sum(map(int, re.findall(r"\d+", outputs["many.py"]))) > 1000
    assert outputs["data.py"].count("greedy against random") == 4
    recorded_count = len((tmp_path / "played.jsonl").read_text(encoding="utf-8").splitlines())
    assert recorded_count >= 4  # void matches, which are played again, are recorded too
    assert outputs["table.py"].startswith(f"{recorded_count} matches; columns: match, event, game")
    for line, text in outputs.items():
        if "learned" in line and line.startswith("arena match"):
            *_, crash, time, illegal, gone, other = re.findall(r"\d+", text.splitlines()[2])
            assert (crash, time, illegal, gone, other) == ("0",) * 5, text
    skip_without("learn")


def test_the_names_of_the_page_are_those_of_the_package() -> None:
    import arena as face  # noqa: PLC0415
    from arena.bots.compiled.batch import Batch  # noqa: PLC0415

    used = set(re.findall(r"(?<!-m )\barena\.([a-z_]+)[(.]", PAGE))
    assert used == {"make", "batch", "play_match", "records", "adapters", "weights_for"}
    assert set(re.findall(r"adapters\.([a-z]+)\(", PAGE)) == {"pettingzoo", "openspiel"}
    assert used <= set(face.__all__)
    rows = re.findall(r"^\| `(\w+)` \| \(size", PAGE, re.MULTILINE)
    assert rows == re.findall(r"^ *(\w+) +\(size,", Batch.__doc__ or "", re.MULTILINE)
