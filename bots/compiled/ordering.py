"""Order in which a node's moves are searched.

The transposition table's move comes first, and is searched before any other move is scored. The other moves follow in
the order of their scores. At the deeper nodes of a selective search (MIN_DEPTH_TO_ESTIMATE_MOVES), the score of a move
is the estimate of the position after it. At all other nodes it is the result of `Kernel.score_move`, which is cheaper. In
both cases, the move's history (`bots.compiled.history`) is added.

Score and move are packed in one word, so that the greatest word belongs to the move with the best score, and among equal
scores to the first move in move order.
"""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.history import get_histories_offset, get_history_score
from arena.bots.compiled.intrinsics import get, put
from arena.bots.compiled.kernel import PLAYING, Kernel
from arena.bots.compiled.last_ply import compute_match_end_value
from arena.bots.compiled.memory_layout import FrameField, MemorySizes, MoveListState, SearchOption

_PACKED_FIELD_BITS = 16
_PACKED_FIELD_MASK = (1 << _PACKED_FIELD_BITS) - 1

MIN_DEPTH_TO_ESTIMATE_MOVES = 5
"""Minimum depth of the nodes at which a selective search orders moves by estimates of the positions after them."""


class MoveOrdering:
    """Move ordering functions of the compiled search of one game."""

    def __init__(self, kernel: Kernel) -> None:
        words, score_move = kernel.words, kernel.score_move
        play, status, estimate = kernel.play, kernel.status, kernel.estimate
        frame_words = MemorySizes(words, 0).frame_words

        @inlined
        def estimate_move(mem: Any, rules: Any, frame: Any, move: Any) -> Any:
            """Return the estimate after the move, or the result if the match ends, for the player who makes the move.

            The position after the move is written to the next frame.
            """
            child_frame = frame + frame_words
            play(rules, mem, frame, child_frame, move)
            outcome = status(rules, mem, child_frame)
            if outcome != PLAYING:
                return compute_match_end_value(outcome, 0)
            return -estimate(rules, mem, child_frame)

        @inlined
        def score_moves(mem: Any, shared: Any, rules: Any, frame: Any) -> None:
            """Replace each unsearched move in the move list of the node in `frame` by a word with the move's score and number.

            The lowest bits of the word are the move's index in the list.
            """
            node = frame + words
            list_at = get(mem, node + FrameField.MOVE_LIST_OFFSET)
            histories = get_histories_offset(mem, node)
            is_estimated = (
                get(shared, SearchOption.EXAMINED_MOVES_AT_DEPTH_1) != 0
                and get(mem, node + FrameField.DEPTH) >= MIN_DEPTH_TO_ESTIMATE_MOVES
            )
            is_scored = get(shared, SearchOption.ORDER_BY_SCORE) != 0
            for i in range(
                get(mem, node + FrameField.NEXT_MOVE_INDEX), get(mem, node + FrameField.MOVE_COUNT)
            ):
                move = get(mem, list_at + i)
                value = 0
                if is_scored:
                    value = (
                        estimate_move(mem, rules, frame, move)
                        if is_estimated
                        else score_move(rules, mem, frame, move)
                    )
                value += get_history_score(mem, histories, move)
                put(
                    mem,
                    list_at + i,
                    (((value << _PACKED_FIELD_BITS) | (_PACKED_FIELD_MASK - move)) << _PACKED_FIELD_BITS) | i,
                )
            put(mem, node + FrameField.MOVE_LIST_STATE, MoveListState.SCORED)

        @inlined
        def select_best_move(mem: Any, node: Any, move_index: Any) -> None:
            """Find the move with the best score at `move_index` or later in the node's move list, and swap it to that index.

            At that index, the list then contains only the number of the move, without its score.
            """
            list_at = get(mem, node + FrameField.MOVE_LIST_OFFSET)
            first_word = get(mem, list_at + move_index)
            best_word = first_word
            for j in range(move_index + 1, get(mem, node + FrameField.MOVE_COUNT)):
                best_word = max(best_word, get(mem, list_at + j))
            best_index = best_word & _PACKED_FIELD_MASK
            put(mem, list_at + best_index, (first_word & ~_PACKED_FIELD_MASK) | best_index)
            put(
                mem,
                list_at + move_index,
                _PACKED_FIELD_MASK - ((best_word >> _PACKED_FIELD_BITS) & _PACKED_FIELD_MASK),
            )

        @inlined
        def put_hint_first(mem: Any, node: Any, hint: Any) -> Any:
            """Put the move `hint` at the front of the node's move list. Return False if the list does not contain it."""
            list_at = get(mem, node + FrameField.MOVE_LIST_OFFSET)
            index = 0
            count = get(mem, node + FrameField.MOVE_COUNT)
            while index < count and get(mem, list_at + index) != hint:
                index += 1
            if index == count:
                return False
            while index > 0:
                put(mem, list_at + index, get(mem, list_at + index - 1))
                index -= 1
            put(mem, list_at, hint)
            return True

        self.score_moves = score_moves
        self.select_best_move = select_best_move
        self.put_hint_first = put_hint_first
