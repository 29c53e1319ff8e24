import os
from contextlib import closing
from pathlib import Path

import pytest

from arena.ladder.record_file import RecordFile
from arena.protocol.record import format_record_line, read_records
from tests.full_disk import limit_file_size
from tests.server.matches import record


def test_missing_records_are_added_once(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    one, two, three = record("1"), record("2"), record("3")
    with closing(RecordFile(path)) as file:
        file.append_record(two)
        assert file.append_missing_records([one, two, three]) == 0
    with closing(RecordFile(path)) as file:
        assert file.append_missing_records([one, two, three]) == 0
    assert [each.match for each in read_records(path)] == ["2", "1", "3"]


def test_lines_of_other_matches_are_counted_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(
        f"{format_record_line(record('1'))}\nnot a record\n{format_record_line(record('2'))}\n",
        encoding="utf-8",
    )
    with closing(RecordFile(path)) as file:
        assert file.append_missing_records([record("2"), record("3")]) == 2
    with closing(RecordFile(path)) as file:
        assert file.append_missing_records([]) == 4
    assert path.read_bytes().count(b"\n") == 4


def test_a_torn_last_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    line = format_record_line(record("1"))
    path.write_text(f"{line}\n{line[:30]}", encoding="utf-8")
    with closing(RecordFile(path)) as file:
        file.append_record(record("2"))
    assert [each.match for each in read_records(path)] == ["1", "2"]


@pytest.mark.parametrize("content", ["precious", "precious\nlines", '{"format": "json"}', "{}\n"])
def test_a_file_without_records_is_refused_and_kept(tmp_path: Path, content: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FileExistsError, match="does not begin with a match record"):
        RecordFile(path)
    assert path.read_text(encoding="utf-8") == content


def test_a_pipe_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(FileExistsError, match="not a regular file"):
        RecordFile(path)
    assert path.is_fifo()


def test_a_torn_first_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    line = format_record_line(record("1"))
    for length in (1, 10, 40):
        path.write_text(line[:length], encoding="utf-8")
        with closing(RecordFile(path)) as file:
            file.append_record(record("2"))
        assert [each.match for each in read_records(path)] == ["2"]


def test_a_record_for_which_the_disk_has_no_room_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with closing(RecordFile(path)) as file:
        file.append_record(record("1"))
        with limit_file_size(path.stat().st_size + 100), pytest.raises(OSError, match="File too large"):
            file.append_record(record("2"))
        file.append_record(record("3"))
    assert [each.match for each in read_records(path)] == ["1", "3"]


def test_an_empty_file_is_deleted(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with closing(RecordFile(path)) as file:
        file.append_missing_records([])
        assert path.exists()
    assert not path.exists()
