"""When each of those who take turns had its last one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

KNOWN = 10_000
"""Those of whom it is known, the latest; whoever is forgotten counts as one that had no turn."""

K = TypeVar("K", bound=Hashable)


@dataclass
class LastTurns(Generic[K]):
    """The numbers of last turns. `of` and `note` take constant time."""

    latest: int = 0
    """The number of the latest turn; they are numbered from 1."""
    _turns: OrderedDict[K, int] = field(default_factory=OrderedDict)

    def of(self, key: K) -> int:
        """The number of its last turn; 0 where it had none."""
        return self._turns.get(key, 0)

    def note(self, *keys: K) -> None:
        """These have the next turn, together."""
        self.latest += 1
        for each in keys:
            self._turns[each] = self.latest
            self._turns.move_to_end(each)
        while len(self._turns) > KNOWN:
            self._turns.popitem(last=False)
