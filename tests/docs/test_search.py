"""docs/search.md shows what its commands print and draw."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from arena.cli import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n\$ (.+?)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command for command, _ in BLOCKS])
def test_a_shown_command(
    command: str,
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An … alone on a line stands for any lines."""
    pictures = tmp_path / "docs" / "pictures"
    pictures.mkdir(parents=True)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split(command)
    assert program == "arena"
    with pytest.raises(SystemExit) as left:
        main(words)
    told = capsys.readouterr()
    assert (left.value.code, told.err) == (0, "")
    printed = "".join(f"{line.rstrip()}\n" for line in told.out.splitlines())
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


def test_the_files_that_it_names_exist() -> None:
    named = set(re.findall(r"`((?:bots|games|tests)/[\w/]+(?:\.py)?)/?`", PAGE))
    named |= {f"bots/search/{name}" for name in re.findall(r"`((?:reports/)?[a-z_]+\.py)`", PAGE)}
    assert len(named) > 20
    for name in named:
        assert (ROOT / name).exists(), name
