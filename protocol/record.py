"""The record of a finished match: `arena-record/1`, one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from arena.protocol.adjudication import REPETITION, Adjudication
from arena.protocol.codes import EndReason
from arena.protocol.engines import Engines
from arena.protocol.timecontrol import TimeOdds
from arena.protocol.values import Data, Players, Seat, Thinking

FORMAT: Final = "arena-record/1"

RECORD_BYTES = 16 * 1024 * 1024
"""The most bytes of a record as a line: 100,000 moves on a map of 1,000 territories, with what is kept of thinking."""


class BadRecord(ValueError):
    """A line that is no record; says the file, the line and why."""


class RecordedMove(Struct, frozen=True, gc=False, omit_defaults=True):
    """A move, the time it took, and what the bot said of it."""

    move: Data
    ms: Annotated[float, Meta(ge=0)]
    thinking: Thinking | None = None
    credited_ms: float = 0.0
    """What was taken off for the network (lag credit), in ms; `ms` is what the clock was charged."""
    opening: bool = False
    """Whether the referee played it before the players began (`ms` is then 0)."""


class Result(Struct, frozen=True, omit_defaults=True):
    """How a match ended. `winner` is None for a draw and for a void match."""

    winner: Seat | None
    reason: EndReason
    detail: str = ""

    @property
    def by_repetition(self) -> bool:
        """Whether it says that the match was drawn because a position came up again and again."""
        return self.reason is EndReason.ADJUDICATED and self.detail.startswith(f"{REPETITION}:")


class Record(Struct, frozen=True, omit_defaults=True):
    """A finished match."""

    format: Literal["arena-record/1"]
    match: str
    event: str
    game: str
    setup: dict[str, Data]
    players: Players
    time_control: str
    started: str
    """When the match began, in ISO 8601, UTC, to whole seconds."""
    moves: list[RecordedMove]
    result: Result
    adjudication: Adjudication | None = None
    """The rules by which the match could be ended before its game; None where there were none."""
    time_odds: TimeOdds = TimeOdds()
    """The times of players that had another than `time_control`."""
    engines: Engines | None = None
    """What chose the moves of both, as they said; None where neither did, as in records that are older than this field."""
    rules: str = ""
    """The digest of the rules of a game of somebody's own (docs/games.md); empty for the games of the project."""


def to_line(record: Record) -> str:
    """The record as one line of JSON, without the line's end."""
    return msgspec.json.encode(record).decode()


# Made here, before there are threads: two that are the first to decode a type end the interpreter (msgspec 0.22).
_decode = msgspec.json.Decoder(Record).decode


def from_line(line: str | bytes) -> Record:
    """The record in a line. Raises BadRecord."""
    try:
        return _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRecord(f"no {FORMAT} record: {error}") from None


def read(path: Path) -> Iterator[Record]:
    """The records of a file, one a line. Raises BadRecord with file and line, or OSError."""
    return (record for _, record in read_numbered(path))


def read_numbered(path: Path) -> Iterator[tuple[int, Record]]:
    """The records of a file with their line numbers, from 1. Raises BadRecord with file and line, or OSError."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield number, from_line(line)
                except BadRecord as error:
                    raise BadRecord(f"{path}, line {number}: {error}") from None
