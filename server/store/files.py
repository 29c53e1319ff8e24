"""Write a file so that it appears under its name only when it is complete."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replace_on_success(path: Path) -> Iterator[Path]:
    """Yield the path of a file to write. At the end of the block, flush the file to the disk, and move it to `path`.

    The file to write is in a temporary folder beside `path`, in which SQLite may create further files. If the block
    raises an exception, the folder is deleted, and `path` does not change. Raises OSError if the file cannot be written.
    """
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
        temporary_path = Path(folder) / path.name
        yield temporary_path
        _sync_to_disk(temporary_path)
        temporary_path.replace(path)
    _sync_to_disk(path.parent)


def _sync_to_disk(path: Path) -> None:
    """Flush a file or a folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
