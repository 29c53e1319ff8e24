"""Pruning of the selective search, which skips moves that rarely matter.

Pruning compares values of searches that end after different numbers of plies, so it must not matter whose turn it is at
the end. `calibrate` measures TEMPO, the value of being the player to move, and SPREAD, the standard deviation of the
further change in value from one ply to the next. A leaf's estimate then includes the tempo. Only null windows are
pruned, and no node whose search reaches the ply limit, because the results there are certain.
"""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import get
from arena.bots.compiled.kernel import Kernel
from arena.bots.compiled.memory_layout import Frame, Option
from arena.bots.search.search_values import ESTIMATE_LIMIT

UNSETTLED = -3_000_000
"""Marker of a node that is not settled, lower than every value."""
MAX_SHALLOW_DEPTH = 3
"""Maximum depth of a node that its estimate may settle, or whose late moves may be skipped."""
MARGIN_PERCENT = 125
"""Maximum change of an estimate that a search is assumed to make per ply of depth, in hundredths of SPREAD."""


class SelectivePruning:
    """Pruning functions for one game."""

    def __init__(self, kernel: Kernel) -> None:
        words, estimate = kernel.words, kernel.estimate

        @inlined
        def is_prunable(mem: Any, shared: Any, node: Any) -> Any:
            """Return True for a node below the root with a null window, if its search ends before the ply limit."""
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
        def find_settled_bound(mem: Any, shared: Any, rules: Any, frame: Any) -> Any:
            """Return a bound computed from the node's estimate, if it lies outside the window; otherwise UNSETTLED."""
            node = frame + words
            depth = get(mem, node + Frame.DEPTH)
            if (
                get(shared, Option.PRUNE_SETTLED) == 0
                or depth > MAX_SHALLOW_DEPTH
                or not is_prunable(mem, shared, node)
            ):
                return UNSETTLED
            value = estimate(rules, mem, frame) + get(shared, Option.TEMPO)
            margin = get(shared, Option.SPREAD) * depth * MARGIN_PERCENT // 100
            if value - margin >= get(mem, node + Frame.BETA):
                return value - margin
            if value + margin <= get(mem, node + Frame.ALPHA):
                return value + margin
            return UNSETTLED

        @inlined
        def skips_late_moves(mem: Any, shared: Any, node: Any, i: Any) -> Any:
            """Return True if the move at place `i` and all later moves are skipped."""
            first_skipped = get(shared, Option.LATE_MOVES) * get(mem, node + Frame.DEPTH)
            return (
                first_skipped > 0
                and i >= first_skipped
                and get(mem, node + Frame.DEPTH) <= MAX_SHALLOW_DEPTH
                and get(mem, node + Frame.BEST) > -ESTIMATE_LIMIT
                and is_prunable(mem, shared, node)
            )

        self.find_settled_bound = find_settled_bound
        self.skips_late_moves = skips_late_moves
