"""`random`: any legal move. The floor of every table, and a quick test of a server."""

from __future__ import annotations

from random import Random
from typing import Any

from arena.bots.api.bot import Bot, Clock


class RandomBot(Bot):
    """Plays each legal move with the same probability.

    With a seed other than 0 every match uses the same numbers; 0 takes new ones each match.
    """

    def __init__(self, seed: int = 0) -> None:
        self._random = Random(seed or None)

    def choose(self, position: Any, clock: Clock) -> Any:  # noqa: ARG002 - it does not think
        return self._random.choice(self.game.moves(position))
