"""Files that are complete or not there at all: arena.atomic_file, and the commands that write through it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from arena.atomic_file import append_line, open_output
from tests.bots.command_line import ARENA, arena, environment, fails
from tests.full_disk import limit_file_size

TEXT = "a line of text\n" * 100


def list_names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


def test_a_file_is_complete_or_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "file.txt"
    for before in (None, "before"):
        with (
            limit_file_size(100),
            pytest.raises(OSError, match="File too large"),
            open_output(file) as stream,
        ):
            stream.write(TEXT)
        assert (file.read_text() if file.exists() else None) == before
        with pytest.raises(KeyboardInterrupt), open_output(file) as stream:
            stream.write(TEXT)
            raise KeyboardInterrupt
        assert list_names(tmp_path) == ["file.txt"] * (before is not None)
        file.write_text("before")
    with open_output(file) as stream:
        stream.write(TEXT)
    assert file.read_text() == TEXT
    assert list_names(tmp_path) == ["file.txt"]


def test_the_target_of_a_link_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    file, link = tmp_path / "file.txt", tmp_path / "link"
    file.touch(mode=0o640)
    link.symlink_to(file)
    with open_output(link) as stream:
        stream.write(TEXT)
    assert link.is_symlink()
    assert file.read_text() == TEXT
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_line_is_appended_whole_or_not_at_all(tmp_path: Path) -> None:
    with (tmp_path / "lines.txt").open("ab", buffering=0) as file:
        append_line(file, "one")
        with limit_file_size(10), pytest.raises(OSError, match="File too large"):
            append_line(file, TEXT)
        append_line(file, "two")
    assert (tmp_path / "lines.txt").read_text() == "one\ntwo\n"


@pytest.mark.parametrize(
    "command",
    ["maps show world --svg FILE", "new FILE.py", "trace HandoutBig minimax --json FILE"],
)
def test_a_command_on_a_full_disk_leaves_no_file(tmp_path: Path, command: str) -> None:
    words = command.replace("FILE", str(tmp_path / "file")).split()
    with limit_file_size(100):
        fails(f"cannot write {tmp_path / 'file'}", 1, *words)
    assert list_names(tmp_path) == []
    assert arena(*words).code == 0
    assert len(list_names(tmp_path)) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
@pytest.mark.parametrize("words", [["--version"], ["maps", "list"]])
def test_a_full_standard_output_is_reported_in_one_line(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [*ARENA, *words], stdout=full, stderr=subprocess.PIPE, env=environment(), text=True, check=False
        )
    assert ended.stderr == "arena: cannot write standard output: No space left on device\n"
    assert ended.returncode == 1
