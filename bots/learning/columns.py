"""Match records as a table, in the format that pandas, Polars and PyArrow accept: one list for each column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from arena.protocol.record import Record, read_records

RECORD_COLUMN_GETTERS: Mapping[str, Callable[[Record], Any]] = {
    "match": lambda record: record.match,
    "event": lambda record: record.event,
    "game": lambda record: record.game,
    "map": lambda record: record.setup.get("map"),
    "maxie": lambda record: record.players.maxie,
    "minnie": lambda record: record.players.minnie,
    "time_control": lambda record: record.time_control,
    "started": lambda record: record.started,
    "winner": lambda record: record.result.winner,
    "reason": lambda record: record.result.reason.value,
    "detail": lambda record: record.result.detail,
    "plies": lambda record: len(record.moves),
    "moves": lambda record: [move.move for move in record.moves],
    "ms": lambda record: [move.ms for move in record.moves],
}
"""Columns of the table: for each column's name, the function that returns the value for one match record."""


def records(path: str | Path) -> dict[str, list[Any]]:
    """Return the matches in a file of records as columns, with one row for each match in the order of the file.

    The column `moves` contains the moves of each match as JSON-like data, and `ms` the time of each move in ms. `map` is
    None for games other than Riskless, and `winner` is None for a draw and for a void match.

    Raises OSError if the file cannot be read, and BadRecord, with the line number, for an invalid record.
    """
    table: dict[str, list[Any]] = {name: [] for name in RECORD_COLUMN_GETTERS}
    for record in read_records(Path(path)):
        for name, get_value in RECORD_COLUMN_GETTERS.items():
            table[name].append(get_value(record))
    return table
