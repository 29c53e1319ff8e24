"""How much of an event was drawn: where most of it was, its table tells little of strength. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from arena.protocol.record import Record
from arena.rating.standings import is_void, losers

TOO_MANY = 0.5
"""The share of draws above which an event should be played on something else."""


class Draws(Struct, frozen=True):
    """The matches that count, and how many of them nobody won."""

    matches: int
    drawn: int
    repetition: int
    """How many of the drawn ones ended because a position came up again and again."""

    @property
    def share(self) -> float:
        """The part that was drawn; 0 where nothing was played."""
        return self.drawn / self.matches if self.matches else 0.0

    @property
    def too_many(self) -> bool:
        """Whether over half of the matches were drawn."""
        return self.share > TOO_MANY


def count_draws(records: Iterable[Record]) -> Draws:
    """The draws among the records. Void matches do not count, and one that both players lost is no draw."""
    ends = [_end(record) for record in records if not is_void(record)]
    return Draws(len(ends), sum(drawn for drawn, _ in ends), sum(repeated for _, repeated in ends))


def draws_by_map(records: Iterable[Record]) -> dict[str, Draws]:
    """The draws on each map, in the order in which the maps came up; a game without maps is its own."""
    played: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        played[str(record.setup.get("map") or record.game)].append(record)
    return {name: count_draws(those) for name, those in played.items()}


def _end(record: Record) -> tuple[bool, bool]:
    drawn = not losers(record)
    return drawn, drawn and record.result.by_repetition
