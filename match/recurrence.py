"""Positions that come up again: the one rule by which every form of play sees that a match goes in circles. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from arena.games.core import Game


class Recurrence:
    """How often each position of one match has come up. Adding one costs O(territories), in time and in memory."""

    def __init__(self, game: Game[Any, Any], positions: Iterable[object] = ()) -> None:
        """Begin with the positions that have come up already."""
        self._game = game
        self._seen: dict[Hashable, int] = {}
        self.latest = 0
        """How often the position that came up last has come up, that time included; 0 before the first."""
        for position in positions:
            self.add(position)

    def add(self, position: object) -> int:
        """How often the position has come up, this time included; 1 in a game in which none comes up again."""
        key = self._game.recurring(position)
        if key is None:
            self.latest = 1
        else:
            self._seen[key] = self.latest = self._seen.get(key, 0) + 1
        return self.latest
