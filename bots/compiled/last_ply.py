"""The last ply before the leaves, where a game can tell its leaves from the position above them.

Most nodes of a search are leaves. Here they are valued one after the other by `Kernel.foresee`, without being built, and
without the steps that an inner node takes for each of its moves.
"""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import get, put
from arena.bots.compiled.kernel import DRAW, LOST, PLAYING, UNSEEN, Kernel
from arena.bots.compiled.layout import Frame, Option, Register
from arena.bots.search.values import INFINITY, WIN


@inlined
def end_of(ended: Any, distance: Any) -> Any:
    """What a match's end is worth to the player who made the last move, so many plies from the root."""
    value = 0 if ended == DRAW else WIN - distance
    return value if ended == LOST else -value


class LastPly:
    """The functions for one game. `list_moves` and `give` are those of the search."""

    def __init__(self, kernel: Kernel, frame_words: int, list_moves: Any, give: Any) -> None:
        words, play, status, estimate = kernel.words, kernel.play, kernel.status, kernel.estimate
        survey: Any = kernel.survey
        foresee: Any = kernel.foresee
        self.seeing = survey is not None and foresee is not None
        """Whether the game can tell leaves at all."""

        @inlined
        def above_leaves(mem: Any, shared: Any, node: Any) -> Any:
            """Whether all that follows from a node is leaves, estimated or over, and it is only asked which side of a value they are on.

            The table is not asked then, nor told: it would take as long as the leaves, and drive deeper entries out of it.
            """
            return (
                get(mem, node + Frame.DEPTH) == 1
                and get(mem, node + Frame.BETA) - get(mem, node + Frame.ALPHA) == 1
                and get(shared, Option.FORESEE) != 0
                and get(shared, Option.SPLIT_DEPTH) > 1
                and get(mem, node + Frame.DISTANCE) > 0
                and get(mem, node + Frame.DISTANCE) + 1 < get(shared, Option.PLIES_LEFT)
            )

        @inlined
        def last_ply(mem: Any, shared: Any, rules: Any, at: Any) -> Any:
            """The best of a node's leaves, one after the other in move order, each seen from here, until one cuts."""
            node = at + words
            distance = get(mem, node + Frame.DISTANCE) + 1
            list_moves(mem, rules, at, distance - 1)
            survey(rules, mem, at)
            list_at = get(mem, node + Frame.LIST)
            count = get(mem, node + Frame.COUNT)
            beta = get(mem, node + Frame.BETA)
            best = -INFINITY
            estimates = 0
            i = 0
            while i < count and best < beta:
                move = get(mem, list_at + i)
                value = foresee(rules, mem, at, move)
                ended = PLAYING
                if value == UNSEEN:
                    to = at + frame_words
                    play(rules, mem, at, to, move)
                    ended = status(rules, mem, to)
                    value = -estimate(rules, mem, to) if ended == PLAYING else end_of(ended, distance)
                if ended == PLAYING:
                    value -= get(shared, Option.TEMPO)
                    estimates += 1
                best = max(best, value)
                i += 1
            put(mem, Register.NODES, get(mem, Register.NODES) + i)
            put(mem, Register.ESTIMATES, get(mem, Register.ESTIMATES) + estimates)
            return give(mem, at, best)

        self.above_leaves = above_leaves
        self.last_ply = last_ply


__all__ = ["LastPly", "end_of"]
