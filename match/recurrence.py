"""Positions that come up again: the one rule by which every form of play sees that a match goes in circles. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

from games.core import Game

REPETITION = 3
"""A position that comes up so many times makes a draw, unless a host says otherwise."""


class Recurrence:
    """How often each position of one match has come up. Adding one costs O(territories)."""

    def __init__(self, game: Game[Any, Any]) -> None:
        self._game = game
        self._seen: Counter[Hashable] = Counter()

    def add(self, position: object) -> int:
        """How often the position has come up, this time included; 1 in a game in which none comes up again."""
        key = self._game.recurring(position)
        if key is None:
            return 1
        self._seen[key] += 1
        return self._seen[key]
