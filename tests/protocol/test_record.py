from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.protocol.codes import EndReason
from arena.protocol.record import (
    BadRecord,
    Record,
    RecordedMove,
    Result,
    format_record_line,
    parse_record_line,
    read_records,
    read_records_with_line_numbers,
)
from arena.protocol.values import Players, Thinking
from tests.protocol.strategies import names, plain, players, seats, texts, thinking

FORMAT_1: Literal["arena-record/1"] = "arena-record/1"

records = st.builds(
    Record,
    st.just(FORMAT_1),
    names,
    texts,
    names,
    st.dictionaries(texts, plain, max_size=4),
    players,
    texts,
    texts,
    st.lists(st.builds(RecordedMove, plain, st.floats(0, 1e9), st.none() | thinking), max_size=5),
    st.builds(Result, st.none() | seats, st.sampled_from(EndReason), texts),
)

EXAMPLE = Record(
    FORMAT_1,
    "5f0c",
    "friday",
    "tictactoe",
    {},
    Players("alphabeta", "random"),
    "0.1/move",
    "2026-11-20T12:00:00Z",
    [RecordedMove(4, 12.345, Thinking(depth=9)), RecordedMove(0, 0.0)],
    Result("maxie", EndReason.RESIGNATION, "random resigned"),
)


@given(records)
def test_a_line_is_unchanged_by_a_round_trip(record: Record) -> None:
    line = format_record_line(record)
    assert "\n" not in line
    assert parse_record_line(line) == record


def test_the_format_is_the_one_that_is_promised() -> None:
    assert json.loads(format_record_line(EXAMPLE)) == {
        "format": "arena-record/1",
        "match": "5f0c",
        "event": "friday",
        "game": "tictactoe",
        "setup": {},
        "players": {"maxie": "alphabeta", "minnie": "random"},
        "time_control": "0.1/move",
        "started": "2026-11-20T12:00:00Z",
        "moves": [{"move": 4, "ms": 12.345, "thinking": {"depth": 9}}, {"move": 0, "ms": 0.0}],
        "result": {"winner": "maxie", "reason": "resignation", "detail": "random resigned"},
    }


def test_a_file_is_read_line_by_line_and_empty_lines_are_passed(tmp_path: Path) -> None:
    file = tmp_path / "ladder.jsonl"
    file.write_text(f"{format_record_line(EXAMPLE)}\n\n{format_record_line(EXAMPLE)}", encoding="utf-8")
    assert list(read_records(file)) == [EXAMPLE, EXAMPLE]
    assert list(read_records_with_line_numbers(file)) == [(1, EXAMPLE), (3, EXAMPLE)]


@pytest.mark.parametrize(
    "bad",
    [
        b"{",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        format_record_line(EXAMPLE).replace("record/1", "record/2").encode(),
        format_record_line(EXAMPLE).replace('"maxie","reason"', '"nobody","reason"').encode(),
        format_record_line(EXAMPLE).replace("resignation", "x" * 65).encode(),
        format_record_line(EXAMPLE).replace('"ms":0.0', '"ms":-1').encode(),
    ],
)
def test_a_bad_line_is_named_by_its_file_and_number(tmp_path: Path, bad: bytes) -> None:
    file = tmp_path / "ladder.jsonl"
    file.write_bytes(format_record_line(EXAMPLE).encode() + b"\n" + bad + b"\n")
    lines = read_records(file)
    assert next(lines) == EXAMPLE
    with pytest.raises(
        BadRecord, match=r"ladder\.jsonl, line 2: not a valid arena-record/1 record: "
    ) as caught:
        next(lines)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        next(read_records(tmp_path / "none.jsonl"))


def test_a_repetition_is_known_by_the_detail_of_an_adjudicated_match() -> None:
    detail = "repetition: the same position came up 3 times"
    assert Result(None, EndReason.ADJUDICATED, detail).ended_by_repetition
    assert not Result(None, EndReason.ADJUDICATED, "table: maxie forces a win in 3 plies").ended_by_repetition
    assert not Result(None, EndReason.PLY_LIMIT, detail).ended_by_repetition
