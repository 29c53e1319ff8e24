"""Write files completely or not at all, so that a full disk or Ctrl-C leaves no incomplete file."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from io import FileIO
from pathlib import Path
from typing import TextIO

FULL_DISK_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Values of `errno` when there is no room for a write: the disk is full, a quota used up, or the maximum file size reached.

An OSError with such a value mostly has no `filename`, so whoever reports it must know which file was being written.
"""


def replace_file_atomically(path: Path) -> AbstractContextManager[Path]:
    """Yield the path of a temporary file to write. At the end of the `with` block, flush it to the disk, and move it to `path`.

    The temporary file is in a folder of its own beside `path`, in which SQLite may create further files. If the block
    raises an exception, the folder is deleted, and `path` does not change.

    If `path` is a link, its target is replaced. The new file has the mode of the old one, but not its owner and its
    other hard links. Raises OSError if the file cannot be written, for example because the old file is write-protected.
    """
    return _write_atomically(path, _replace_file)


def create_file_atomically(path: Path) -> AbstractContextManager[Path]:
    """Yield the path of a temporary file to write. At the end of the block, move it to `path`, but replace no file there.

    Raises FileExistsError if there is a file at `path` at the end of the `with` block. On a file system without hard links, a
    file that another process creates at that very moment is replaced all the same. If the block raises an exception,
    nothing is created at `path`.
    """
    return _write_atomically(path, _move_without_overwriting)


@contextmanager
def _write_atomically(path: Path, move: Callable[[Path, Path], None]) -> Iterator[Path]:
    require_writable(path)
    target = Path(os.path.realpath(path))
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".arena-") as folder:
        temporary_path = Path(folder) / target.name
        yield temporary_path
        move(temporary_path, target)
    with suppress(OSError):  # the file is complete; not every folder can be opened and flushed
        _sync_to_disk(target.parent)


def _replace_file(new_file: Path, target: Path) -> None:
    if target.exists():
        shutil.copymode(target, new_file)
    _sync_to_disk(new_file)
    new_file.replace(target)


def _move_without_overwriting(new_file: Path, target: Path) -> None:
    _sync_to_disk(new_file)
    try:
        os.link(new_file, target)  # unlike a renaming, fails if `target` exists
    except OSError:
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        new_file.rename(target)  # on a file system without hard links, such as that of a memory stick


@contextmanager
def open_output_file(path: Path) -> Iterator[TextIO]:
    """Yield a stream whose text is stored at `path` if the `with` block succeeds. Raises OSError if it cannot be written.

    Some files cannot be replaced: a device or a pipe, such as /dev/stdout, a file in a folder that permits no new files,
    and a file that is itself a mount point. These are written directly, so a full disk or Ctrl-C can leave them incomplete.
    """
    with (
        replace_file_atomically(path) if _can_be_replaced(path) else nullcontext(path) as part,
        part.open("w", encoding="utf-8") as stream,
    ):
        yield stream


def create_text_file(path: Path, text: str) -> None:
    """Write `text` to a new file. If that fails, remove the file.

    Raises FileExistsError if `path` exists, even as a link to nothing, and another OSError if it cannot be written.
    """
    with path.open("x", encoding="utf-8") as stream:
        try:
            stream.write(text)
            stream.flush()
        except BaseException:
            path.unlink()
            raise


def require_writable(path: Path) -> None:
    """Raise OSError if the user may neither write the file at `path` nor create it. Nothing is created or changed."""
    try:
        path.stat()
    except FileNotFoundError:
        folder = Path(os.path.realpath(path)).parent
        folder.stat()
        is_writable = _permits_new_files(folder)
    else:
        is_writable = _has_access(path, os.W_OK)
    if not is_writable:
        number = errno.EROFS if _is_on_readonly_disk(path) else errno.EACCES
        raise OSError(number, os.strerror(number), str(path))


def append_line_to_path(path: Path, line: str) -> None:
    """Append a line to the file at `path`, and create the file if it does not exist. Raises OSError if that fails."""
    with path.open("ab", buffering=0) as file:
        append_line(file, line)


def append_line(file: FileIO, line: str) -> None:
    """Append a line to a file that is open for appending. Raises OSError, with the file's name, if the write fails.

    If only a part of the line can be written (on a full disk), the part is removed again, unless another process has
    appended to the file meanwhile.
    """
    file_size = os.fstat(file.fileno()).st_size
    data = f"{line}\n".encode()
    written_bytes = 0
    try:
        while written_bytes < len(data):
            written_bytes += file.write(data[written_bytes:])
    except OSError as error:
        error.filename = file.name
        # Any other size: another process has appended lines, or the file is a pipe or a device.
        if written_bytes and os.fstat(file.fileno()).st_size == file_size + written_bytes:
            file.truncate(file_size)
        raise


def _can_be_replaced(path: Path) -> bool:
    """Return True if another file in the same folder could be renamed to `path`, so that it replaces the file there.

    If `path` is a link, the file that the link points to is meant.
    """
    if not path.exists():
        return True
    if not path.is_file():
        return False
    target = Path(os.path.realpath(path))
    is_mount_point = (
        target.stat().st_dev != target.parent.stat().st_dev
    )  # such as a file mounted into a container
    return not is_mount_point and _permits_new_files(target.parent)


def _is_on_readonly_disk(path: Path) -> bool:
    if not hasattr(os, "statvfs"):  # Windows
        return False
    return bool(
        os.statvfs(path if path.exists() else Path(os.path.realpath(path)).parent).f_flag & os.ST_RDONLY
    )


def _permits_new_files(folder: Path) -> bool:
    return _has_access(folder, os.W_OK | os.X_OK)


def _has_access(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _sync_to_disk(path: Path) -> None:
    """Flush a file or a folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
