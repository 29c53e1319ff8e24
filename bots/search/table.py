"""The transposition table: positions that were searched before, by whatever path (003).

An entry holds the value of one position searched to one depth. It answers only for that depth: a
deeper search is more, but it is another value, and a fixed-depth search promises its own. The key is
the whole position; a Riskless position includes its ply, so what the ply limit decides never leaks
to another ply. Values are kept as counted from the node, because another path to it may be another
distance from the root (`values.from_node`).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum
from typing import Generic

from arena.bots.search.values import from_node, from_root
from arena.games.core import M, P


class Kind(Enum):
    """What a stored value says about the true one, both for the player to move."""

    EXACT = "exact"
    LOWER = "lower"
    """A cut: the true value is at least this."""
    UPPER = "upper"
    """All moves failed low: the true value is at most this."""


@dataclass(frozen=True, slots=True)
class Entry(Generic[M]):
    """A searched position. `value` is for the player to move, counted from this node."""

    depth: int
    value: int
    kind: Kind
    move: M
    generation: int


class Table(Generic[P, M]):
    """At most `size` positions; the oldest entry makes room. For one thread at a time."""

    def __init__(self, size: int = 500_000) -> None:
        if size < 1:
            raise ValueError(f"a table has room for at least 1 position, not {size}")
        self.size = size
        self.generation = 0
        # a plain dict looks for its oldest key past the places of all that were deleted
        self._entries: OrderedDict[P, Entry[M]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def new_search(self) -> None:
        """A search of a root begins: entries from now on are its own."""
        self.generation += 1

    def move(self, position: P) -> M | None:
        """The best or cutting move that was found here last, to whatever depth."""
        entry = self._entries.get(position)
        return entry.move if entry is not None else None

    def look(self, position: P, depth: int, distance: int, alpha: int, beta: int) -> tuple[int, bool] | None:
        """The value that answers for this window, and whether an earlier search of a root found it.

        Fail-soft, for the player to move: an exact value, a lower bound ≥ beta, or an upper bound
        ≤ alpha. None where the table cannot answer.
        """
        entry = self._entries.get(position)
        if entry is None or entry.depth != depth:
            return None
        value = from_root(entry.value, distance)
        answers = (
            entry.kind is Kind.EXACT
            or (entry.kind is Kind.LOWER and value >= beta)
            or (entry.kind is Kind.UPPER and value <= alpha)
        )
        return (value, entry.generation != self.generation) if answers else None

    def keep(self, position: P, depth: int, distance: int, value: int, kind: Kind, move: M) -> None:
        """Store what a search of this position to this depth has found. O(1), also when full."""
        self._entries.pop(position, None)
        if len(self._entries) >= self.size:
            self._entries.popitem(last=False)
        self._entries[position] = Entry(depth, from_node(value, distance), kind, move, self.generation)
