"""What the selective mode leaves out, because it rarely matters.

All of it compares values of searches that end after different numbers of plies, so whoever is to move at the
end must not be better off for that alone: `calibrate` measures what having the move is worth, TEMPO, and by how
much a ply changes a value beyond that, SPREAD; a leaf's estimate then includes the tempo. Only null windows
are narrowed down so, and no node whose search reaches the ply limit: what is left out there is known.
"""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import get
from arena.bots.compiled.kernel import Kernel
from arena.bots.compiled.layout import Frame, Option
from arena.bots.search.values import ESTIMATE_LIMIT

UNSETTLED = -3_000_000
"""Below every value."""
SHALLOW = 3
"""Up to this depth a node may be settled by its estimate, or lose its late moves."""
MARGIN = 125
"""How far a search is assumed to change an estimate at most, for each ply of its depth, in hundredths of SPREAD."""


class Selective:
    """The functions for one game."""

    def __init__(self, kernel: Kernel) -> None:
        words, estimate = kernel.words, kernel.estimate

        @inlined
        def narrow(mem: Any, shared: Any, node: Any) -> Any:
            """Whether it is only asked which side of a value the node is on, and the search ends before the match."""
            alpha = get(mem, node + Frame.ALPHA)
            beta = get(mem, node + Frame.BETA)
            plies_left = get(shared, Option.PLIES_LEFT) - get(mem, node + Frame.DISTANCE)
            return (
                beta - alpha == 1
                and get(mem, node + Frame.DISTANCE) > 0
                and beta < ESTIMATE_LIMIT
                and alpha > -ESTIMATE_LIMIT
                and get(mem, node + Frame.DEPTH) < plies_left
            )

        @inlined
        def settled(mem: Any, shared: Any, rules: Any, at: Any) -> Any:
            """The bound that the node's estimate is for its search, if that decides the window; else UNSETTLED."""
            node = at + words
            depth = get(mem, node + Frame.DEPTH)
            if get(shared, Option.SETTLE) == 0 or depth > SHALLOW or not narrow(mem, shared, node):
                return UNSETTLED
            value = estimate(rules, mem, at) + get(shared, Option.TEMPO)
            margin = get(shared, Option.SPREAD) * depth * MARGIN // 100
            if value - margin >= get(mem, node + Frame.BETA):
                return value - margin
            if value + margin <= get(mem, node + Frame.ALPHA):
                return value + margin
            return UNSETTLED

        @inlined
        def left_out(mem: Any, shared: Any, node: Any, i: Any) -> Any:
            """Whether the move at place i and all behind it are not searched."""
            late = get(shared, Option.LATE) * get(mem, node + Frame.DEPTH)
            return (
                late > 0
                and i >= late
                and get(mem, node + Frame.DEPTH) <= SHALLOW
                and get(mem, node + Frame.BEST) > -ESTIMATE_LIMIT
                and narrow(mem, shared, node)
            )

        self.settled = settled
        self.left_out = left_out
