"""Turn order: the time of each key's last turn, as a count of turns."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

KEYS = 10_000
"""Keys that are kept, the latest. A forgotten one counts as never served."""

K = TypeVar("K", bound=Hashable)


class TurnOrder(Generic[K]):
    """Number of the last turn of each key. `last` and `serve` take constant time."""

    def __init__(self) -> None:
        self.count = 0
        """Turns so far; they are numbered from 1."""
        self._last: OrderedDict[K, int] = OrderedDict()

    def last(self, key: K) -> int:
        """Return the number of the key's last turn; 0 where it had none."""
        return self._last.get(key, 0)

    def serve(self, *keys: K) -> None:
        """Give these the next turn, together."""
        self.count += 1
        for key in keys:
            self._last[key] = self.count
            self._last.move_to_end(key)
        while len(self._last) > KEYS:
            self._last.popitem(last=False)
