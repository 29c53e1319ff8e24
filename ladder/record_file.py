"""The file of finished matches: a line each, appended as soon as the match is told, never rewritten."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from arena.protocol.record import BadRecord, Record, from_line, to_line


class RecordFile:
    """The file, open for appending; as a context it is closed at the end, and deleted if nothing is in it.

    Raises OSError. A last line without its end, which a full disk or a loss of power left, is cut off.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # Unbuffered: a line is one write, so that a killed ladder leaves whole lines.
        self._file = path.open("a+b", buffering=0)
        self._cut()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, record: Record) -> None:
        """Append a match."""
        self._file.write(to_line(record).encode() + b"\n")

    def complete(self, records: Iterable[Record]) -> None:
        """Append those of `records` that are not in the file."""
        missing = {record.match: record for record in records}
        if not missing:
            return
        self._file.seek(0)
        for line in self._file.read().splitlines():
            with contextlib.suppress(BadRecord):  # whatever else is in the file stays there
                missing.pop(from_line(line).match, None)
        for record in missing.values():
            self.write(record)

    def close(self) -> None:
        """Close the file, and delete it if nothing is in it."""
        empty = self._file.seek(0, os.SEEK_END) == 0
        self._file.close()
        if empty:
            self._path.unlink(missing_ok=True)

    def _cut(self) -> None:
        size = self._file.seek(0, os.SEEK_END)
        if not size:
            return
        self._file.seek(size - 1)
        if self._file.read(1) == b"\n":
            return
        self._file.seek(0)
        whole = self._file.read().rfind(b"\n") + 1
        self._file.truncate(whole)
