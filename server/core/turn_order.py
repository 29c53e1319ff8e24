"""Turn order of keys, such as owners of bots: the key that has waited longest since its last turn is next."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from arena.server.core.bounded_dict import BoundedDict

MAX_REMEMBERED_KEYS = 10_000
"""Maximum number of keys to remember. The key whose last turn is oldest is forgotten first, and counts as never served."""

K = TypeVar("K", bound=Hashable)


class TurnOrder(Generic[K]):
    """Order in which keys, such as owners, take turns: the key whose last turn was longest ago comes first.

    Turns are numbered, and the number of each key's last turn is kept. All methods take constant time."""

    def __init__(self) -> None:
        self.turn_count = 0
        """Number of turns so far; turns are numbered from 1."""
        self._last_turns = BoundedDict[K, int](MAX_REMEMBERED_KEYS)

    def find_last_turn_number(self, key: K) -> int:
        """Return the number of the key's last turn; 0 if it had none."""
        return self._last_turns.get(key, 0)

    def record_turn(self, *keys: K) -> None:
        """Record that these keys take the next turn together: each gets the number of that turn."""
        self.turn_count += 1
        for key in keys:
            self._last_turns[key] = self.turn_count
