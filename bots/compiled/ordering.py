"""Order in which a node's moves are searched.

The transposition table's move comes first, and is searched before any other move is examined. The score of each other
move is the game's cheap `promise`. Score and move are packed in one word, so that the greatest word is the best move,
and among equal moves the leftmost.
"""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import get, put
from arena.bots.compiled.kernel import Kernel
from arena.bots.compiled.memory_layout import Frame, ListState, Option

_MOVE_BITS = 16
_LAST_MOVE = (1 << _MOVE_BITS) - 1


class MoveOrdering:
    """Move ordering functions for one game."""

    def __init__(self, kernel: Kernel) -> None:
        words, promise = kernel.words, kernel.promise

        @inlined
        def score_moves(mem: Any, shared: Any, rules: Any, at: Any) -> None:
            node = at + words
            list_at = get(mem, node + Frame.LIST)
            for i in range(get(mem, node + Frame.NEXT), get(mem, node + Frame.COUNT)):
                move = get(mem, list_at + i)
                value = promise(rules, mem, at, move) if get(shared, Option.ORDER_BY_PROMISE) != 0 else 0
                put(mem, list_at + i, (value << _MOVE_BITS) | (_LAST_MOVE - move))
            put(mem, node + Frame.ORDER, ListState.SCORED)

        @inlined
        def pick_best(mem: Any, node: Any, i: Any) -> None:
            """Swap the best-scored move among those from place `i` on to place `i`, and remove its score."""
            list_at = get(mem, node + Frame.LIST)
            chosen = i
            best = get(mem, list_at + i)
            first = best
            for j in range(i + 1, get(mem, node + Frame.COUNT)):
                word = get(mem, list_at + j)
                if word > best:
                    best = word
                    chosen = j
            put(mem, list_at + chosen, first)
            put(mem, list_at + i, _LAST_MOVE - (best & _LAST_MOVE))

        @inlined
        def move_hint_first(mem: Any, node: Any, hint: Any) -> Any:
            """Move the hint to the front, keeping the order of the others. Return False if it is not a move of this node."""
            list_at = get(mem, node + Frame.LIST)
            place = 0
            count = get(mem, node + Frame.COUNT)
            while place < count and get(mem, list_at + place) != hint:
                place += 1
            if place == count:
                return False
            while place > 0:
                put(mem, list_at + place, get(mem, list_at + place - 1))
                place -= 1
            put(mem, list_at, hint)
            return True

        self.score_moves = score_moves
        self.pick_best = pick_best
        self.move_hint_first = move_hint_first
