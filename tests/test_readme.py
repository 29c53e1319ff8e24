"""README.md: its short commands run, its example bot plays, and its make targets exist."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import pytest

from tests.bots.command_line import arena

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
SHELL = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]
COMMANDS = [shlex.split(line, comments=True) for line in SHELL if line.startswith("arena ")]


@pytest.mark.parametrize(
    "command",
    [
        ["maps", "list"],
        ["trace", "HandoutBig", "alphabeta"],
        ["analyse", "--map", "m2", "--nodes", "100000", "--lines", "3"],
    ],
    ids=" ".join,
)
def test_quick_commands_run_as_shown(command: list[str]) -> None:
    assert ["arena", *command] in COMMANDS
    result = arena(*command)
    assert result.code == 0, result


def test_the_bot_shown_is_a_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (source,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    path = tmp_path / "my_bot.py"
    path.write_text(source)
    monkeypatch.setattr("sys.stdin", io.StringIO("a1\nresign\n"))
    result = arena("play", path, "--game", "tictactoe")
    assert result.code == 0, result


def test_the_make_targets_shown_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in SHELL:
        if line.startswith("make "):
            assert re.search(rf"^{line.split()[1]}:", makefile, re.MULTILINE)
