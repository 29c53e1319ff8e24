"""Detection of repeated positions in a match. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from arena.games.core import Game


class RepetitionCounter:
    """Counter of how often each position of one match has occurred.

    Adding a position of Riskless takes time and memory in proportion to the number of territories.
    """

    def __init__(self, game: Game[Any, Any]) -> None:
        self._game = game
        self._counts: dict[Hashable, int] = {}

    def count_occurrence(self, position: object) -> int:
        """Count a position, and return the number of its occurrences so far; always 1 if the game cannot repeat positions."""
        key = self._game.repetition_key(position)
        if key is None:
            return 1
        self._counts[key] = self._counts.get(key, 0) + 1
        return self._counts[key]
