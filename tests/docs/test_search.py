"""docs/search.md and docs/engine.md show what their commands print and draw."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.bots.command_line import arena

ROOT = Path(__file__).parents[2]
PAGE = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("search.md", "engine.md"))
BLOCKS = re.findall(r"^```console\n\$ (.+?)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)

LONG = re.compile("--analyse|--compare|lazy")
"""Commands that search for seconds, as every algorithm in turn, or every position of a match."""


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        pytest.param(*block, marks=[pytest.mark.slow] if LONG.search(block[0]) else [], id=block[0])
        for block in BLOCKS
    ],
)
def test_a_shown_command(
    command: str,
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An … alone on a line stands for any lines."""
    if "--analyse" in command:
        pytest.importorskip("numba")
    pictures = tmp_path / "docs" / "pictures"
    pictures.mkdir(parents=True)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split(command)
    assert program == "arena"
    result = arena(*words)
    assert (result.code, result.stderr) == (0, "")
    printed = "".join(f"{line.rstrip()}\n" for line in result.stdout.splitlines())
    pattern = ".*".join(re.escape(part) for part in re.split(r"^…\n", shown, flags=re.MULTILINE))
    assert re.fullmatch(pattern, printed, re.DOTALL), printed
    drawn = list(pictures.iterdir())
    for picture in drawn:
        assert picture.read_text(encoding="utf-8") == (ROOT / "docs" / "pictures" / picture.name).read_text(
            encoding="utf-8"
        )
    assert len(drawn) == command.count("--svg")


def test_every_picture_is_drawn_and_shown() -> None:
    drawn = set(re.findall(r"--svg docs/pictures/(\S+)", PAGE))
    shown = set(re.findall(r"\]\(pictures/(\S+)\)", PAGE))
    assert drawn == shown
    assert drawn <= {path.name for path in (ROOT / "docs" / "pictures").iterdir()}
