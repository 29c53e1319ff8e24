"""Share of draws in an event. If most matches are drawn, the table says little about strength. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from arena.protocol.record import Record
from arena.rating.standings import is_void, list_losers

MAX_DRAWN_SHARE = 0.5
"""Share of draws above which an event should be played on another map or as another game."""


class Draws(Struct, frozen=True):
    """Numbers of matches and of drawn matches. Void matches do not count."""

    matches: int
    drawn: int
    repetition: int
    """Number of draws by repetition."""

    @property
    def share(self) -> float:
        """Return the fraction of drawn matches; 0 if none were played."""
        return self.drawn / self.matches if self.matches else 0.0

    @property
    def are_too_many(self) -> bool:
        """Return True if over half of the matches were drawn."""
        return self.share > MAX_DRAWN_SHARE


def count_draws(records: Iterable[Record]) -> Draws:
    """Return the draws among the records. Void matches do not count, and a match lost by both players is not a draw."""
    ends = [_drawn_and_repeated(record) for record in records if not is_void(record)]
    return Draws(len(ends), sum(drawn for drawn, _ in ends), sum(repeated for _, repeated in ends))


def draws_by_map(records: Iterable[Record]) -> dict[str, Draws]:
    """Return the draws on each map, in order of first appearance; a game without maps counts as one map."""
    by_map: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_map[str(record.setup.get("map") or record.game)].append(record)
    return {name: count_draws(those) for name, those in by_map.items()}


def _drawn_and_repeated(record: Record) -> tuple[bool, bool]:
    is_draw = not list_losers(record)
    return is_draw, is_draw and record.result.by_repetition
