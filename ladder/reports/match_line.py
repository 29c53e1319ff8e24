"""A finished match told in one line."""

from __future__ import annotations

from arena.protocol.adjudication import REPETITION
from arena.protocol.codes import FORFEITS
from arena.protocol.record import Record
from arena.rating.standings import is_void, losers


def in_words(record: Record) -> str:
    """A finished match in one line: `greedy beats random on m2 in 41 plies (elimination)`."""
    lost = losers(record)
    maxie, minnie = record.players.maxie, record.players.minnie
    place = f" on {record.setup['map']}" if record.setup.get("map") else ""
    reason = REPETITION if record.result.by_repetition else record.result.reason.value.replace("_", " ")
    detail = f": {record.result.detail}" if record.result.detail and record.result.reason in FORFEITS else ""
    if is_void(record):
        what = f"{maxie} against {minnie}{place} is void"
        detail = f": {record.result.detail}"
    elif len(lost) == 1:
        winner = minnie if lost[0] == maxie else maxie
        what = f"{winner} beats {lost[0]}{place} in {len(record.moves)} plies"
    else:
        what = f"{maxie} and {minnie}{place} both lose" if lost else f"{maxie} and {minnie} draw{place}"
    return f"{what} ({reason}{detail})"
