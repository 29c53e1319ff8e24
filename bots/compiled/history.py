"""Statistics of the nodes that a selective search finished: the history of moves, and corrections of estimates.

The history of a move is a number, used to order moves (`ordering`). The history rises when the move causes a cutoff, and falls
when a move that is searched later causes one (the history heuristic; Schaeffer, 1989).

The correction of a position is the average difference between the searched values and the estimates of positions of the
same shape (correction history, as in Stockfish). In Riskless, the shape is the set of territories of each player,
without the armies. Half of the correction is added to the estimate of a leaf, and the whole correction to an estimate
that decides about pruning.

Each thread has its own statistics. The statistics are kept from search to search, until the transposition table is cleared.
"""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import get, put
from arena.bots.compiled.kernel import Kernel
from arena.bots.compiled.memory_layout import CORRECTION_COUNT, FrameField, SearchOption, ThreadField
from arena.bots.compiled.table import EXACT, LOWER, UPPER, make_hash_function
from arena.bots.search.search_values import ESTIMATE_LIMIT

_HISTORY_RANGE_BITS = 12
_CORRECTION_FRACTION_BITS = 6
_MAX_CORRECTION_IN_SPREADS = 3

MAX_HISTORY_SCORE = 200
"""Greatest number by which a move's history raises or lowers the move's score, in hundredths of an army."""


@inlined
def get_histories_offset(mem: Any, node: Any) -> Any:
    """Return the index, in a thread's memory, of the histories (ordering scores) of moves of the player to move at the node.

    The history of the move with the number n is n words after this index.
    """
    player = (get(mem, node + FrameField.DISTANCE_FROM_ROOT) + get(mem, ThreadField.ROOT_PLAYER)) & 1
    return get(mem, ThreadField.HISTORIES_OFFSET) + player * get(mem, ThreadField.MOVE_LIST_WORDS)


@inlined
def get_history_score(mem: Any, histories_offset: Any, move: Any) -> Any:
    """Return the number to add to a move's score for its history, from -MAX_HISTORY_SCORE to MAX_HISTORY_SCORE.

    `histories_offset` is the result of `get_histories_offset`.
    """
    return get(mem, histories_offset + move) * MAX_HISTORY_SCORE >> _HISTORY_RANGE_BITS


@inlined
def update_histories(mem: Any, node: Any) -> None:
    """Raise the history of the node's CURRENT_MOVE, which caused a cutoff, and lower the histories of its earlier moves."""
    depth = get(mem, node + FrameField.DEPTH)
    step = min(16 * depth * depth, 1 << _HISTORY_RANGE_BITS - 2)
    histories = get_histories_offset(mem, node)
    index = histories + get(mem, node + FrameField.CURRENT_MOVE)
    history = get(mem, index)
    put(mem, index, history + step - (history * step >> _HISTORY_RANGE_BITS))
    for i in range(get(mem, node + FrameField.MOVE_RANK)):
        index = histories + get(mem, get(mem, node + FrameField.MOVE_LIST_OFFSET) + i)
        history = get(mem, index)
        put(mem, index, history - step - (history * step >> _HISTORY_RANGE_BITS))


class EstimateCorrections:
    """Functions of one game that read and update corrections of its estimates: average differences from searched values."""

    def __init__(self, kernel: Kernel) -> None:
        words, shape_word_count = kernel.words, kernel.shape_word_count
        shape_at = kernel.key_word_count - shape_word_count
        hash_shape = make_hash_function(shape_word_count)

        @inlined
        def find_correction(mem: Any, frame: Any) -> Any:
            return get(mem, ThreadField.CORRECTIONS_OFFSET) + (
                hash_shape(mem, frame + shape_at) & (CORRECTION_COUNT - 1)
            )

        @inlined
        def correct_leaf_estimate(mem: Any, shared: Any, frame: Any) -> Any:
            """Return the correction of a leaf's estimate, to be added to it. `frame` has the leaf's position."""
            if shape_word_count == 0 or get(shared, SearchOption.IS_SELECTIVE) == 0:
                return 0
            return get(mem, find_correction(mem, frame)) >> (_CORRECTION_FRACTION_BITS + 1)

        @inlined
        def get_corrected_estimate(mem: Any, frame: Any) -> Any:
            """Return the estimate of the node in `frame` (field ESTIMATE), plus its correction."""
            value = get(mem, frame + words + FrameField.ESTIMATE)
            if shape_word_count == 0:
                return value
            return value + (get(mem, find_correction(mem, frame)) >> _CORRECTION_FRACTION_BITS)

        @inlined
        def update_correction(mem: Any, shared: Any, frame: Any, value: Any, bound: Any) -> None:
            """Move the correction of the finished node in `frame` towards the difference between its value and its estimate.

            bound  kind of `value`: EXACT, LOWER or UPPER

            Do nothing if the value is only a bound, and the corrected estimate is within the bound. Do nothing, either, if
            the value is a win or a loss, or the search reached the ply limit: a draw there says nothing about the estimate.
            """
            node = frame + words
            plies_left = get(shared, SearchOption.PLIES_LEFT_AT_ROOT) - get(
                mem, node + FrameField.DISTANCE_FROM_ROOT
            )
            if (
                shape_word_count == 0
                or get(shared, SearchOption.IS_SELECTIVE) == 0
                or abs(value) >= ESTIMATE_LIMIT
                or get(mem, node + FrameField.DEPTH) >= plies_left
            ):
                return
            index = find_correction(mem, frame)
            old = get(mem, index)
            error = value - get(mem, node + FrameField.ESTIMATE)
            correction = old >> _CORRECTION_FRACTION_BITS
            if (
                bound == EXACT
                or (bound == LOWER and error >= correction)
                or (bound == UPPER and error <= correction)
            ):
                limit = _MAX_CORRECTION_IN_SPREADS * get(shared, SearchOption.VALUE_SPREAD)
                target = min(max(error, -limit), limit) << _CORRECTION_FRACTION_BITS
                weight = min(2 * get(mem, node + FrameField.DEPTH), 32)
                put(mem, index, old + ((target - old) * weight >> 7))

        self.correct_leaf_estimate = correct_leaf_estimate
        self.get_corrected_estimate = get_corrected_estimate
        self.update_correction = update_correction
