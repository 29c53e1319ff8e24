"""Detection of repeated positions in a match. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from arena.games.core import Game


class RepetitionCounter:
    """Counter of how often each position of one match has occurred.

    Adding a position of Riskless takes time and memory in proportion to the number of territories.
    """

    def __init__(self, game: Game[Any, Any], positions: Iterable[object] = ()) -> None:
        """Create a counter, and count `positions`, which have already occurred."""
        self._game = game
        self._counts: dict[Hashable, int] = {}
        self.latest_count = 0
        """Number of occurrences of the latest position, including the latest one; 0 before the first position."""
        for position in positions:
            self.add(position)

    def add(self, position: object) -> int:
        """Count a position, and return how often it has occurred so far; always 1 if the game cannot repeat positions."""
        key = self._game.repetition_key(position)
        if key is None:
            self.latest_count = 1
        else:
            self._counts[key] = self.latest_count = self._counts.get(key, 0) + 1
        return self.latest_count
