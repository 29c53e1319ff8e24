"""File of finished matches: one line per match, appended and never rewritten."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

from arena.atomic_file import append_line
from arena.protocol.record import BadRecord, Record, format_record_line, parse_record_line

RECORD_LINE_PREFIX = b'{"format":"arena-record/'
"""First bytes of each line of a record file, by which such a file is recognised."""


class RecordFile:
    """Record file, open for appending. Closing it deletes the file if it is empty.

    Opening removes an incomplete last line, left by a full disk or a power loss. Opening and writing raise OSError if
    they fail. Opening a device, or a file that does not begin with a record, raises FileExistsError and changes nothing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        if path.exists() and not path.is_file():  # such as /dev/null, which `close` would delete
            raise FileExistsError(errno.EEXIST, "not a regular file: name another file", str(path))
        # Unbuffered: a line is one write, so that a killed ladder leaves complete lines.
        self._file = path.open("a+b", buffering=0)
        try:
            self._require_record_file_format()
            self._truncate_partial_line()
        except BaseException:
            self._file.close()
            raise

    def append_record(self, record: Record) -> None:
        """Append the record of a match. If the record cannot be written, the file stays as it was."""
        append_line(self._file, format_record_line(record))

    def append_missing_records(self, records: Iterable[Record]) -> int:
        """Append the `records` that are not in the file.

        Return the number of lines in the file that belong to none of `records`.
        """
        known_records = {record.match: record for record in records}
        missing_records = dict(known_records)
        other_events_record_count = 0
        self._file.seek(0)
        for line in self._file.read().splitlines():
            match = _parse_match_id(line) if known_records else ""
            missing_records.pop(match, None)
            other_events_record_count += match not in known_records
        for record in missing_records.values():
            self.append_record(record)
        return other_events_record_count

    def close(self) -> None:
        """Close the file, and delete it if it is empty."""
        is_empty = self._file.seek(0, os.SEEK_END) == 0
        self._file.close()
        if is_empty:
            self._path.unlink(missing_ok=True)

    def _require_record_file_format(self) -> None:
        with self._path.open("rb") as file:
            first_line = file.readline()
        if first_line.endswith(b"\n"):
            is_record = _parse_match_id(first_line) != ""
        else:  # an incomplete record, or an empty file
            is_record = RECORD_LINE_PREFIX.startswith(first_line[: len(RECORD_LINE_PREFIX)])
        if not is_record:
            raise FileExistsError(
                errno.EEXIST,
                "the file does not begin with a match record: name another file",
                str(self._path),
            )

    def _truncate_partial_line(self) -> None:
        file_size = self._file.seek(0, os.SEEK_END)
        if not file_size:
            return
        self._file.seek(file_size - 1)
        if self._file.read(1) == b"\n":
            return
        self._file.seek(0)
        complete_bytes = self._file.read().rfind(b"\n") + 1
        self._file.truncate(complete_bytes)


def _parse_match_id(record_line: bytes) -> str:
    """Return the id of the match in a line of the file; empty if the line is not a record."""
    try:
        return parse_record_line(record_line).match
    except BadRecord:
        return ""
