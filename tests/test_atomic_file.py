"""Files that are complete or not there at all: arena.atomic_file, and the commands that write through it."""

from __future__ import annotations

import errno
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from arena.atomic_file import (
    append_line,
    create_file_atomically,
    create_text_file,
    open_output_file,
    require_writable,
)
from tests.bots.command_line import ARENA, arena, environment, fails
from tests.full_disk import limit_file_size

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

TEXT = "a line of text\n" * 100


def list_names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


@contextmanager
def make_folder_of_another_user(file_mode: int, folder_mode: int) -> Iterator[Path]:
    """Yield a folder with the file `file.txt`. During the block, the process has no rights of root."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "file.txt"
        file.write_text("before")
        file.chmod(file_mode)
        folder.chmod(folder_mode)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)
        try:
            yield folder
        finally:
            os.seteuid(user)
            folder.chmod(0o700)


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_created_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_links: bool
) -> None:
    def refuse_link(*_: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    if not has_links:
        monkeypatch.setattr(os, "link", refuse_link)
    file, other = tmp_path / "file.txt", tmp_path / "other.txt"
    with create_file_atomically(file) as part:
        part.write_text("new")
    with pytest.raises(FileExistsError), create_file_atomically(other) as part:
        part.write_text("new")
        other.write_text("created meanwhile")
    assert (file.read_text(), other.read_text()) == ("new", "created meanwhile")
    assert sorted(list_names(tmp_path)) == ["file.txt", "other.txt"]


def test_a_file_is_complete_or_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "file.txt"
    for before in (None, "before"):
        with (
            limit_file_size(100),
            pytest.raises(OSError, match="File too large"),
            open_output_file(file) as stream,
        ):
            stream.write(TEXT)
        assert (file.read_text() if file.exists() else None) == before
        with pytest.raises(KeyboardInterrupt), open_output_file(file) as stream:
            stream.write(TEXT)
            raise KeyboardInterrupt
        assert list_names(tmp_path) == ["file.txt"] * (before is not None)
        file.write_text("before")
    with open_output_file(file) as stream:
        stream.write(TEXT)
    assert file.read_text() == TEXT
    assert list_names(tmp_path) == ["file.txt"]


def test_the_target_of_a_link_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    file, link = tmp_path / "file.txt", tmp_path / "link"
    file.touch(mode=0o640)
    link.symlink_to(file)
    with open_output_file(link) as stream:
        stream.write(TEXT)
    assert link.is_symlink()
    assert file.read_text() == TEXT
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_file_in_a_folder_that_permits_no_new_files_is_written_directly() -> None:
    with make_folder_of_another_user(0o666, 0o555) as folder:
        file = folder / "file.txt"
        require_writable(file)
        with open_output_file(file) as stream:
            stream.write(TEXT)
        assert file.read_text() == TEXT
        with pytest.raises(PermissionError):
            require_writable(folder / "new.txt")


def test_a_read_only_disk_is_named_as_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    status = os.statvfs_result((0, 0, 0, 0, 0, 0, 0, 0, os.ST_RDONLY, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: status)
    with make_folder_of_another_user(0o444, 0o555) as folder:
        for file in (folder / "file.txt", folder / "new.txt"):
            with pytest.raises(OSError, match=r"Read-only file system: '.*\.txt'"):
                require_writable(file)


def test_a_write_protected_file_is_not_replaced() -> None:
    with make_folder_of_another_user(0o444, 0o777) as folder:
        file = folder / "file.txt"
        with pytest.raises(PermissionError), open_output_file(file):
            pass
        with pytest.raises(PermissionError):
            require_writable(file)
        assert file.read_text() == "before"
        assert list_names(folder) == ["file.txt"]


def test_a_file_in_a_folder_that_may_not_be_read_is_replaced() -> None:
    with make_folder_of_another_user(0o666, 0o333) as folder, open_output_file(folder / "file.txt") as stream:
        stream.write(TEXT)


def test_a_name_may_have_255_characters(tmp_path: Path) -> None:
    file = tmp_path / (255 * "x")
    with open_output_file(file) as stream:
        stream.write(TEXT)
    assert file.read_text() == TEXT
    with pytest.raises(OSError, match="File name too long"):
        require_writable(tmp_path / (256 * "x"))


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    fails(
        f"--svg: cannot write {loop}: Too many levels of symbolic links",
        2,
        "maps",
        "show",
        "m1",
        "--svg",
        loop,
    )
    assert loop.is_symlink()


def test_a_file_is_created_whole_or_not_at_all(tmp_path: Path) -> None:
    file, link = tmp_path / "file.txt", tmp_path / "link"
    link.symlink_to(file)
    with limit_file_size(100), pytest.raises(OSError, match="File too large"):
        create_text_file(file, TEXT)
    assert list_names(tmp_path) == ["link"]
    with pytest.raises(FileExistsError):
        create_text_file(link, TEXT)
    create_text_file(file, TEXT)
    assert file.read_text() == TEXT


def test_a_line_is_appended_whole_or_not_at_all(tmp_path: Path) -> None:
    with (tmp_path / "lines.txt").open("ab", buffering=0) as file:
        append_line(file, "one")
        with limit_file_size(10), pytest.raises(OSError, match="File too large"):
            append_line(file, TEXT)
        append_line(file, "two")
    assert (tmp_path / "lines.txt").read_text() == "one\ntwo\n"


def test_a_cut_line_leaves_the_lines_of_another_process(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"

    class InterruptedFile(FileIO):
        """File that is full after three bytes. Another process appends a line before the error."""

        def write(self, data: ReadableBuffer) -> int:
            if os.fstat(self.fileno()).st_size:
                with path.open("a") as other:
                    other.write("other\n")
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(memoryview(data)[:3])

    with (
        InterruptedFile(path, "a") as file,
        pytest.raises(OSError, match="No space left on device") as raised,
    ):
        append_line(file, "line")
    assert raised.value.filename == path
    assert path.read_text() == "linother\n"


def test_an_error_of_a_pipe_is_the_error_of_its_write() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with FileIO(writer, "w") as pipe, pytest.raises(BrokenPipeError):
        append_line(pipe, "line")


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
