"""The record of a finished match: `arena-record/1`, one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from arena.protocol.adjudication import REPETITION_DETAIL_PREFIX, Adjudication
from arena.protocol.codes import EndReason
from arena.protocol.engines import EnginesBySeat
from arena.protocol.timecontrol import TimeOdds
from arena.protocol.values import PlainData, Players, Seat, Thinking

RECORD_FORMAT: Final = "arena-record/1"
"""Name and version of the record format, stored in the field `format` of each record."""

MAX_RECORD_BYTES = 16 * 1024 * 1024
"""Maximum size of a record in bytes: enough for 100,000 moves with analysis on a map of 1,000 territories."""


class BadRecord(ValueError):
    """Raised when a line is not a valid record, or a record contradicts the rules of its game. The message says why."""


class RecordedMove(Struct, frozen=True, gc=False, omit_defaults=True):
    """Move in a record, with its time and the bot's analysis."""

    move: PlainData
    ms: Annotated[float, Meta(ge=0)]
    """Time charged to the mover's clock, in ms."""
    thinking: Thinking | None = None
    credited_ms: float = 0.0
    """Network delay that was not charged to the mover's clock (lag credit), in ms. The move took `ms` plus this."""
    opening: bool = False
    """True for a move of the opening, which the referee played; `ms` is then 0."""


class Result(Struct, frozen=True, omit_defaults=True):
    """Result of a match. `winner` is None for a draw and for a void match."""

    winner: Seat | None
    reason: EndReason
    detail: str = ""

    @property
    def ended_by_repetition(self) -> bool:
        """Return True if the match was drawn by repetition."""
        return self.reason is EndReason.ADJUDICATED and self.detail.startswith(f"{REPETITION_DETAIL_PREFIX}:")


class Record(Struct, frozen=True, omit_defaults=True):
    """Record of a finished match: players, moves and result."""

    format: Literal["arena-record/1"]
    match: str
    event: str
    game: str
    setup: dict[str, PlainData]
    players: Players
    time_control: str
    started: str
    """Start of the match, ISO 8601, UTC, whole seconds."""
    moves: list[RecordedMove]
    result: Result
    adjudication: Adjudication | None = None
    """Rules by which the server could end the match early; None if the match had no such rules."""
    time_odds: TimeOdds = TimeOdds()
    """Time control of each player who did not use `time_control`."""
    engines: EnginesBySeat | None = None
    """Engines of both players; None if neither sent a description, or in records older than this field."""
    rules: str = ""
    """Digest (hash) of the rules of a custom game (docs/games.md); empty for a game that the project ships."""


def format_record_line(record: Record) -> str:
    """Return the record as one line of JSON, without a line end."""
    return msgspec.json.encode(record).decode()


# Created before there are threads: msgspec 0.22 crashes if two threads are the first to decode a type.
_decode_record_json = msgspec.json.Decoder(Record).decode


def parse_record_line(line: str | bytes) -> Record:
    """Return the record in a line of JSON. Raises BadRecord if the line does not hold a valid record."""
    try:
        return _decode_record_json(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRecord(f"not a valid {RECORD_FORMAT} record: {error}") from None


def read_records(record_file: Path) -> Iterator[Record]:
    """Yield the records of a file, which has one per line. Empty lines are skipped.

    Raises OSError if the file cannot be read, and BadRecord, which names file and line, for an invalid record.
    """
    return (record for _, record in read_records_with_line_numbers(record_file))


def read_records_with_line_numbers(record_file: Path) -> Iterator[tuple[int, Record]]:
    """Yield the number of each line (from 1) of a file of records, with the line's record. Empty lines are skipped.

    Raises OSError if the file cannot be read, and BadRecord, which names file and line, for an invalid record.
    """
    with record_file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield number, parse_record_line(line)
                except BadRecord as error:
                    raise BadRecord(f"{record_file}, line {number}: {error}") from None
