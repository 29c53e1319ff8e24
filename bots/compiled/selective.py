"""Pruning of the selective search, which skips moves that rarely matter.

- Futility pruning: a shallow node is not searched if its estimate is outside its window by at least a margin.
- ProbCut (ICCA Journal, 1995): a deeper node is not searched if the value of a shallower search of its position is outside
  its window by at least a margin.
- Late-move pruning: a shallow node examines only its first moves.
- Late-move reductions: a late move is first searched to a smaller depth, and to the full depth only if its value then
  exceeds the best one so far.

The estimates that decide about pruning are corrected (see the module `history`). Pruning compares values of searches to
different depths, at whose leaves different players may be to move. Therefore TEMPO_VALUE, the value of being the player to
move, is added to the estimate of each leaf. The margins are proportional to VALUE_SPREAD, the standard deviation of the
change in value from one depth to the depth two plies deeper. `calibrate_pruning` measures both numbers.

Only nodes with a null window are pruned. A node whose search reaches the ply limit is never pruned, because its value is
exact.
"""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import get, put
from arena.bots.compiled.kernel import Kernel
from arena.bots.compiled.memory_layout import FrameField, MemorySizes, SearchKind, SearchOption, ThreadField
from arena.bots.search.search_values import ESTIMATE_LIMIT

NOT_PRUNED_VALUE = -3_000_000
"""Result of a pruning test if the node must be searched; lower than every search value."""
MAX_SHALLOW_PRUNING_DEPTH = 3
"""Maximum depth of a node at which pruning by the estimate alone, and the skipping of late moves, are allowed."""
FUTILITY_RISE_PERCENT_OF_SPREAD = 125
"""Rise over the estimate, per ply of depth, that futility pruning considers possible, in percent of VALUE_SPREAD."""
FUTILITY_FALL_PERCENT_OF_SPREAD = 85
"""Fall below the estimate, per ply of depth, that futility pruning considers possible, in percent of VALUE_SPREAD.

A fall is smaller than a rise, because the player to move chooses the best of many moves.
"""

EXAMINED_MOVES_ADDED_PER_PLY = 2
"""Number of further moves that late-move pruning lets a node examine, for each ply of the node's depth beyond 1."""

MIN_PROBCUT_DEPTH = 5
"""Minimum depth of a node that may be pruned by ProbCut, a shallower search of the same position."""
MIN_DEEP_PROBCUT_DEPTH = 9
"""Minimum depth of a node for which ProbCut's search is six plies shallower than the node's own search, instead of four."""
PROBCUT_MARGIN_PERCENT_OF_SPREAD = 140
"""Assumed maximum difference in value between the full search of a node and its ProbCut search, in percent of VALUE_SPREAD."""

MIN_LATE_MOVE_REDUCTION_DEPTH = 5
"""Minimum depth of a node whose late moves are searched to a smaller depth first."""
FIRST_MOVE_RANK_REDUCED_BY_2_PLIES = 3
"""Place in a node's search order, from 0, of the first move that is searched two plies less deep before its full search.

A reduction is an even number of plies, because values of odd and even depths differ even after the correction by TEMPO_VALUE.
"""
FIRST_MOVE_RANK_REDUCED_BY_4_PLIES = 8
"""Place in a node's search order, from 0, of the first move that is searched four plies less deep before its full search.

At nodes of the minimum depth MIN_LATE_MOVE_REDUCTION_DEPTH, the reduction stays two plies.
"""


class SelectivePruning:
    """Pruning functions of the compiled search of one game."""

    def __init__(self, kernel: Kernel, get_corrected_estimate: Any) -> None:
        words = kernel.words
        frame_words = MemorySizes(words, 0).frame_words

        @inlined
        def is_result_uncertain(mem: Any, shared: Any, node: Any, low: Any, high: Any) -> Any:
            """Return True if moves of the node may be pruned, because its result is uncertain.

            The result is uncertain if the window from `low` to `high` contains no value of a win or a loss, and the
            search ends before the ply limit.
            """
            plies_left = get(shared, SearchOption.PLIES_LEFT_AT_ROOT) - get(
                mem, node + FrameField.DISTANCE_FROM_ROOT
            )
            return (
                high < ESTIMATE_LIMIT
                and low > -ESTIMATE_LIMIT
                and get(mem, node + FrameField.DEPTH) < plies_left
            )

        @inlined
        def is_prunable(mem: Any, shared: Any, node: Any) -> Any:
            """Return True if a node may be pruned: it is not the root, has a null window, and an uncertain result."""
            alpha = get(mem, node + FrameField.ALPHA)
            beta = get(mem, node + FrameField.BETA)
            return (
                beta - alpha == 1
                and get(mem, node + FrameField.DISTANCE_FROM_ROOT) > 0
                and is_result_uncertain(mem, shared, node, alpha, beta)
            )

        @inlined
        def compute_probcut_margin(shared: Any) -> Any:
            return get(shared, SearchOption.VALUE_SPREAD) * PROBCUT_MARGIN_PERCENT_OF_SPREAD // 100

        @inlined
        def find_futility_bound(mem: Any, shared: Any, frame: Any) -> Any:
            """Return a bound on the value of the node in `frame`, if its estimate is far enough outside the window.

            Otherwise return NOT_PRUNED_VALUE, which tells the caller to search the node.
            """
            node = frame + words
            depth = get(mem, node + FrameField.DEPTH)
            if (
                get(shared, SearchOption.IS_SELECTIVE) == 0
                or depth > MAX_SHALLOW_PRUNING_DEPTH
                or not is_prunable(mem, shared, node)
            ):
                return NOT_PRUNED_VALUE
            value = get_corrected_estimate(mem, frame)
            spreads = get(shared, SearchOption.VALUE_SPREAD) * depth
            lowest = value - spreads * FUTILITY_FALL_PERCENT_OF_SPREAD // 100
            if lowest >= get(mem, node + FrameField.BETA):
                return lowest
            highest = value + spreads * FUTILITY_RISE_PERCENT_OF_SPREAD // 100
            if highest <= get(mem, node + FrameField.ALPHA):
                return highest
            return NOT_PRUNED_VALUE

        @inlined
        def may_skip_late_moves(mem: Any, shared: Any, node: Any, rank: Any) -> Any:
            """Return True if the node's move at place `rank` in the search order, and all later moves, are skipped."""
            depth = get(mem, node + FrameField.DEPTH)
            late_moves = get(shared, SearchOption.EXAMINED_MOVES_AT_DEPTH_1)
            return (
                late_moves > 0
                and rank >= late_moves + EXAMINED_MOVES_ADDED_PER_PLY * (depth - 1)
                and depth <= MAX_SHALLOW_PRUNING_DEPTH
                and get(mem, node + FrameField.BEST_VALUE) > -ESTIMATE_LIMIT
                and is_prunable(mem, shared, node)
            )

        @inlined
        def begin_probcut(mem: Any, shared: Any, frame: Any) -> Any:
            """Start ProbCut's search: write its first node to the next frame, to which field CURRENT_FRAME_OFFSET then points.

            If the node's estimate is at least beta, the search tests whether the value exceeds beta by a margin. If the
            estimate is less, the search tests whether the value is below beta by a margin. Return False, and do nothing,
            if ProbCut does not apply to the node.
            """
            node = frame + words
            depth = get(mem, node + FrameField.DEPTH)
            if (
                get(shared, SearchOption.IS_SELECTIVE) == 0
                or depth < MIN_PROBCUT_DEPTH
                or not is_prunable(mem, shared, node)
            ):
                return False
            beta = get(mem, node + FrameField.BETA)
            margin = compute_probcut_margin(shared)
            is_above = get_corrected_estimate(mem, frame) >= beta
            shallow_beta = beta + margin if is_above else beta - margin
            # Values beyond this limit are wins and losses: a search for them would skip no moves.
            if shallow_beta >= ESTIMATE_LIMIT or shallow_beta <= -ESTIMATE_LIMIT:
                return False
            shallow_node = node + frame_words
            for i in range(words):
                put(mem, frame + frame_words + i, get(mem, frame + i))
            put(mem, shallow_node + FrameField.DEPTH, depth - (6 if depth >= MIN_DEEP_PROBCUT_DEPTH else 4))
            put(
                mem,
                shallow_node + FrameField.DISTANCE_FROM_ROOT,
                get(mem, node + FrameField.DISTANCE_FROM_ROOT),
            )
            put(mem, shallow_node + FrameField.ALPHA, shallow_beta - 1)
            put(mem, shallow_node + FrameField.BETA, shallow_beta)
            put(mem, node + FrameField.SEARCH_KIND, SearchKind.PROBCUT)
            put(mem, ThreadField.CURRENT_FRAME_OFFSET, frame + frame_words)
            return True

        @inlined
        def find_probcut_bound(mem: Any, shared: Any, frame: Any) -> Any:
            """Return a bound on the value of the node in `frame`, if its finished ProbCut search gives one.

            Otherwise return NOT_PRUNED_VALUE, which tells the caller to search the node. The bound is weaker than the value of
            the ProbCut search by the margin, unless that value is a win or a loss.
            """
            node = frame + words
            value = -get(mem, ThreadField.CHILD_VALUE)
            margin = compute_probcut_margin(shared)
            beta = get(mem, node + FrameField.BETA)
            shallow_beta = get(mem, node + frame_words + FrameField.BETA)
            if value >= shallow_beta >= beta:
                return value if value > ESTIMATE_LIMIT else value - margin
            if value < shallow_beta <= beta:
                return value if value < -ESTIMATE_LIMIT else value + margin
            return NOT_PRUNED_VALUE

        @inlined
        def reduce_without_hint(mem: Any, shared: Any, node: Any) -> None:
            """Reduce the depth of a node for which the transposition table has no move (internal iterative reduction).

            The first move of such a node is probably not its best one. The root and nodes whose search reaches the ply
            limit are not reduced.
            """
            depth = get(mem, node + FrameField.DEPTH)
            distance = get(mem, node + FrameField.DISTANCE_FROM_ROOT)
            if (
                get(shared, SearchOption.IS_SELECTIVE) != 0
                and get(mem, node + FrameField.HINT_MOVE) < 0
                and distance > 0
                and MIN_LATE_MOVE_REDUCTION_DEPTH
                <= depth
                < get(shared, SearchOption.PLIES_LEFT_AT_ROOT) - distance
            ):
                put(mem, node + FrameField.DEPTH, depth - 2)

        @inlined
        def reduce_late_move(mem: Any, shared: Any, node: Any) -> Any:
            """Return the number of plies by which the first search of the node's CURRENT_MOVE is less deep: 0, 2 or 4.

            The number is 0 for the first moves of the node, near a win or a loss, and if the search reaches the ply limit.
            """
            depth = get(mem, node + FrameField.DEPTH)
            rank = get(mem, node + FrameField.MOVE_RANK)
            threshold = get(mem, node + FrameField.BEST_MOVE_THRESHOLD)
            if (
                get(shared, SearchOption.EXAMINED_MOVES_AT_DEPTH_1) == 0
                or rank < FIRST_MOVE_RANK_REDUCED_BY_2_PLIES
                or depth < MIN_LATE_MOVE_REDUCTION_DEPTH
                or not is_result_uncertain(mem, shared, node, threshold, threshold + 1)
            ):
                return 0
            return (
                4
                if rank >= FIRST_MOVE_RANK_REDUCED_BY_4_PLIES and depth > MIN_LATE_MOVE_REDUCTION_DEPTH
                else 2
            )

        self.reduce_late_move = reduce_late_move
        self.reduce_without_hint = reduce_without_hint
        self.begin_probcut = begin_probcut
        self.find_probcut_bound = find_probcut_bound
        self.find_futility_bound = find_futility_bound
        self.may_skip_late_moves = may_skip_late_moves
