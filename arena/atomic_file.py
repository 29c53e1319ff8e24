"""Write files so that a full disk or Ctrl-C leaves nothing incomplete under a file's name."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from io import FileIO
from pathlib import Path
from typing import TextIO


@contextmanager
def replace_on_success(path: Path) -> Iterator[Path]:
    """Yield the path of a file to write. At the end of the block, flush the file to the disk, and move it to `path`.

    The file to write is in a temporary folder beside `path`, in which SQLite may create further files. If the block
    raises an exception, the folder is deleted, and `path` does not change. If `path` is a link, its target is replaced.
    Raises OSError if the file cannot be written.
    """
    path = path.resolve()
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
        temporary_path = Path(folder) / path.name
        yield temporary_path
        if path.exists():
            shutil.copymode(path, temporary_path)
        _sync_to_disk(temporary_path)
        temporary_path.replace(path)
    _sync_to_disk(path.parent)


@contextmanager
def open_output(path: Path) -> Iterator[TextIO]:
    """Yield a stream whose text is stored at `path` if the block succeeds. Raises OSError if it cannot be written.

    A device or a pipe, such as /dev/stdout, is written directly.
    """
    is_special = path.exists() and not path.is_file()
    with (
        nullcontext(path) if is_special else replace_on_success(path) as part,
        part.open("w", encoding="utf-8") as stream,
    ):
        yield stream


def append_line(file: FileIO, line: str) -> None:
    """Append a line to a file that is open for appending. If only a part can be written, remove the part.

    Raises OSError if the file cannot be written.
    """
    file_size = os.fstat(file.fileno()).st_size
    data = f"{line}\n".encode()
    written_bytes = 0
    try:
        while written_bytes < len(data):
            written_bytes += file.write(data[written_bytes:])
    except OSError:
        if written_bytes:
            file.truncate(file_size)
        raise


def _sync_to_disk(path: Path) -> None:
    """Flush a file or a folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
