"""Transposition table: positions that were searched before, on any path.

An entry holds the value of one position searched to one depth. A search uses the entry only for the same depth: a deeper search
gives a different value, and a fixed-depth search promises the value of its own depth. The key is the whole position. A Riskless
position includes its ply, so effects of the ply limit never appear at another ply. The value of a win is stored with the plies
counted from the position, not from the root, because paths of different lengths may lead to the position
(`search_values.to_node_value`).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum
from typing import Generic

from arena.bots.search.search_values import to_node_value, to_root_value
from arena.games.core import M, P


class Bound(Enum):
    """Relation of a stored value to the true value, both for the player to move at the node."""

    EXACT = "exact"
    LOWER = "lower"
    """The true value is at least the stored one, because the search of the node ended with a cut."""
    UPPER = "upper"
    """The true value is at most the stored one, because no move of the node had a value above alpha."""


@dataclass(frozen=True, slots=True)
class TableEntry(Generic[M]):
    """Entry for a searched position. `value` is for the player to move; plies to a win are counted from this position.

    depth       depth to which the position was searched, in plies
    move        best move, or the move that caused a cut
    generation  number of the search (`Table.begin_search`) that stored the entry
    """

    depth: int
    value: int
    bound: Bound
    move: M
    generation: int


class Table(Generic[P, M]):
    """Transposition table for at most `size` positions. In a full table, a new entry replaces the oldest. Not thread-safe."""

    def __init__(self, size: int = 500_000) -> None:
        if size < 1:
            raise ValueError(f"a transposition table must have room for at least 1 position, not {size}")
        self.size = size
        self.generation = 0
        # not a plain dict, which finds its oldest key only by scanning the slots of all deleted keys
        self._entries: OrderedDict[P, TableEntry[M]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def begin_search(self) -> None:
        """Start a new search from the root. `probe` distinguishes the entries stored from now on from older ones."""
        self.generation += 1

    def get_stored_move(self, position: P) -> M | None:
        """Return the best move stored for this position by a search of any depth; None if there is none.

        After a cutoff at the position, the stored move is the one that caused the cutoff.
        """
        entry = self._entries.get(position)
        return entry.move if entry is not None else None

    def probe(
        self, position: P, depth: int, plies_from_root: int, alpha: int, beta: int
    ) -> tuple[int, bool] | None:
        """Return a stored value that makes a search of the position unnecessary; None if there is none.

        The result is a pair: the value, and True if an earlier search from the root stored it (before the last
        `begin_search`). The value is for the player to move, and is exact, a lower bound ≥ `beta`, or an upper bound ≤
        `alpha`. Only values from a search to exactly `depth` plies are used. `plies_from_root` is the number of plies
        from the root to the position.
        """
        entry = self._entries.get(position)
        if entry is None or entry.depth != depth:
            return None
        value = to_root_value(entry.value, plies_from_root)
        is_sufficient = (
            entry.bound is Bound.EXACT
            or (entry.bound is Bound.LOWER and value >= beta)
            or (entry.bound is Bound.UPPER and value <= alpha)
        )
        return (value, entry.generation != self.generation) if is_sufficient else None

    def store(self, position: P, depth: int, plies_from_root: int, value: int, bound: Bound, move: M) -> None:
        """Store the result of a search of this position to `depth` plies, in constant time even if the table is full.

        plies_from_root  number of plies from the root to the position
        value, bound     value for the player to move, and its relation to the true value
        move             best move, or the move that caused a cut
        """
        self._entries.pop(position, None)
        if len(self._entries) >= self.size:
            self._entries.popitem(last=False)
        self._entries[position] = TableEntry(
            depth, to_node_value(value, plies_from_root), bound, move, self.generation
        )
