"""Records as a table, in the format that pandas, Polars and PyArrow accept: one list for each column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena.protocol.record import Record, read_records

COLUMNS = (
    *("match", "event", "game", "map", "maxie", "minnie", "time_control", "started"),
    *("winner", "reason", "detail", "plies", "moves", "ms"),
)


def records(path: str | Path) -> dict[str, list[Any]]:
    """Return the matches in a file of records as columns, with one row for each match in the order of the file.

    `moves` contains the moves of each match as plain data, `ms` the time of each move in ms. `map` is None for games
    other than Riskless, and `winner` is None for a draw. Raises OSError if the file cannot be read, and BadRecord, with
    the line number, for an invalid record.
    """
    table: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for record in read_records(Path(path)):
        for name, value in zip(COLUMNS, _make_record_row(record), strict=True):
            table[name].append(value)
    return table


def _make_record_row(record: Record) -> tuple[Any, ...]:
    result, players = record.result, record.players
    return (
        *(record.match, record.event, record.game, record.setup.get("map"), players.maxie, players.minnie),
        *(record.time_control, record.started, result.winner, result.reason.value, result.detail),
        *(len(record.moves), [move.move for move in record.moves], [move.ms for move in record.moves]),
    )
