"""Jamboree, a parallel alpha-beta search: idle threads join split points (nodes whose moves several threads search).

The thread that entered a node searches its first moves. If other threads are idle, it then opens a split point with the
remaining moves. Each participating thread takes the next move, searches it, and reports its value.

In the original form (Joerg and Kuszmaul) each move is first tested with a null window:
- If its value does not exceed alpha, the move is done.
- If the value reaches beta, the node is cut: all threads below the split point notice this at their next check, and return.
- A value in between is only a bound, so the move is searched a second time, with the full window. At one split point,
  second searches run one at a time, each after all earlier moves are done.

The form in a course's homework (source 001 in docs/search.md, section 6) is called the course's form. In this form, the first
moves of a node are searched in sequence; all other moves get the window that these have left, and the threads share no bounds.

A thread that has opened a split point and waits for its helpers takes work only from split points below it, so it is
free again soon after the helpers are done. A split point's fields change only under its lock.
"""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import (
    atomic_load,
    atomic_store,
    atomic_swap,
    fetch_add,
    get,
    put,
    spin_pause,
    yield_core,
)
from arena.bots.compiled.kernel import Kernel
from arena.bots.compiled.memory_layout import (
    FIRST_FRAME_OFFSET,
    NO_FIXED_ALPHA_VALUE,
    SPLITS_PER_THREAD,
    FrameField,
    MoveListState,
    MoveState,
    SearchOption,
    SharedField,
    SplitField,
    SplitMoveField,
    SplitPointRole,
    ThreadField,
)

MAX_SPINS_BEFORE_YIELD = 64
"""Number of times that a thread checks whether a lock is free or its helpers are done before it yields its CPU core.

A thread that yields its CPU core lets another thread run there.
"""
MAX_WORK_CHECKS_BEFORE_YIELD = 2000
"""Number of times that an idle thread looks for work (for about 0.1 ms) before it lets another thread run on its CPU core.

Work usually arrives within microseconds, but a program that gets the CPU core keeps it for milliseconds.
"""


@inlined
def lock_split(shared: Any, split: Any) -> None:
    """Wait for the lock of a split point (a node whose moves several threads search), and acquire the lock."""
    spin_count = 0
    while atomic_swap(shared, split + SplitField.LOCK, 1) != 0:
        while atomic_load(shared, split + SplitField.LOCK) != 0:
            spin_count += 1
            if spin_count >= MAX_SPINS_BEFORE_YIELD:
                yield_core()


@inlined
def unlock_split(shared: Any, split: Any) -> None:
    """Release the lock of a split point. The next thread that acquires the lock sees all writes made while it was held."""
    atomic_store(shared, split + SplitField.LOCK, 0)


@inlined
def is_search_interrupted(mem: Any, shared: Any) -> Any:
    """Return True if all threads must stop, or must leave a split point (field MUST_LEAVE is set) above this thread's work."""
    if atomic_load(shared, SharedField.MUST_STOP) != 0:
        return True
    split = get(mem, ThreadField.INNERMOST_SPLIT)
    while split >= 0:
        if atomic_load(shared, split + SplitField.MUST_LEAVE) != 0:
            return True
        split = get(shared, split + SplitField.PARENT_SPLIT)
    return False


@inlined
def is_below_split(shared: Any, split: Any, ancestor: Any) -> Any:
    """Return True if the split point `split` is below the split point `ancestor` in the tree; always if `ancestor` is -1."""
    if ancestor < 0:
        return True
    parent = get(shared, split + SplitField.PARENT_SPLIT)
    while parent >= 0:
        if parent == ancestor:
            return True
        parent = get(shared, parent + SplitField.PARENT_SPLIT)
    return False


@inlined
def compute_best_move_threshold(
    best_value: Any, best_move: Any, move: Any, distance_from_root: Any, is_exact_search: Any
) -> Any:
    """Return the value that `move` must exceed to become the best move.

    The threshold is the best value so far. But at the root of an exact search, a move before `best_move` in move order needs
    only an equal value, so that the first of equal moves is the best.
    """
    return (
        best_value - 1
        if is_exact_search != 0 and distance_from_root == 0 and move < best_move
        else best_value
    )


class SplitPoints:
    """Functions that open, share and close split points (nodes whose moves several threads search) in one game's search."""

    def __init__(self, kernel: Kernel, frame_words: int, select_best_move: Any) -> None:
        words = kernel.words
        position_at = int(SplitField.TOTAL_WORDS)
        move_records_at = position_at + words

        @inlined
        def get_move_record(split: Any, move_index: Any) -> Any:
            return split + move_records_at + move_index * SplitMoveField.TOTAL_WORDS

        @inlined
        def open_split(mem: Any, shared: Any, frame: Any) -> Any:
            """Open a split point, so that other threads can help with the moves of the node in `frame` that are not yet begun.

            Return False, and open none, if all SPLITS_PER_THREAD split points of this thread are in use.
            """
            node = frame + words
            split_words = get(shared, SearchOption.SPLIT_WORDS)
            split = (
                SharedField.SPLIT_POINTS_OFFSET
                + get(mem, ThreadField.THREAD_NUMBER) * SPLITS_PER_THREAD * split_words
            )
            tried_count = 0
            while tried_count < SPLITS_PER_THREAD and atomic_load(shared, split + SplitField.IS_OPEN) != 0:
                split += split_words
                tried_count += 1
            if tried_count == SPLITS_PER_THREAD:
                return False
            begun_count = get(mem, node + FrameField.NEXT_MOVE_INDEX)
            count = get(mem, node + FrameField.MOVE_COUNT) - begun_count
            list_at = get(mem, node + FrameField.MOVE_LIST_OFFSET) + begun_count
            is_scored = get(mem, node + FrameField.MOVE_LIST_STATE) == MoveListState.SCORED
            # another thread may still be checking whether the split point is open
            lock_split(shared, split)
            for i in range(count):
                if is_scored:
                    select_best_move(mem, node, begun_count + i)
                put(shared, get_move_record(split, i) + SplitMoveField.MOVE, get(mem, list_at + i))
                put(shared, get_move_record(split, i) + SplitMoveField.MOVE_STATE, MoveState.UNTAKEN)
            put(mem, node + FrameField.MOVE_LIST_STATE, MoveListState.SORTED)
            for i in range(words):
                put(shared, split + position_at + i, get(mem, frame + i))
            put(shared, split + SplitField.MUST_LEAVE, 0)
            put(shared, split + SplitField.MEMBER_COUNT, 1)
            put(shared, split + SplitField.PARENT_SPLIT, get(mem, ThreadField.INNERMOST_SPLIT))
            put(shared, split + SplitField.NEXT_MOVE_INDEX, 0)
            put(shared, split + SplitField.MOVE_COUNT, count)
            put(shared, split + SplitField.DONE_PREFIX_LENGTH, 0)
            put(shared, split + SplitField.HAS_RE_SEARCH, 0)
            put(shared, split + SplitField.ALPHA, get(mem, node + FrameField.ALPHA))
            put(shared, split + SplitField.BETA, get(mem, node + FrameField.BETA))
            put(shared, split + SplitField.BEST_VALUE, get(mem, node + FrameField.BEST_VALUE))
            put(shared, split + SplitField.BEST_MOVE, get(mem, node + FrameField.BEST_MOVE))
            put(shared, split + SplitField.DEPTH, get(mem, node + FrameField.DEPTH))
            put(shared, split + SplitField.DISTANCE_FROM_ROOT, get(mem, node + FrameField.DISTANCE_FROM_ROOT))
            put(shared, split + SplitField.FIXED_ALPHA, get(mem, node + FrameField.FIXED_ALPHA))
            put(shared, split + SplitField.FIXED_BEST_MOVE, get(mem, node + FrameField.FIXED_BEST_MOVE))
            put(shared, split + SplitField.MOVE_COUNT_BEFORE_SPLIT, begun_count)
            put(shared, split + SplitField.IS_OPEN, 1)
            unlock_split(shared, split)
            put(mem, node + FrameField.NEXT_MOVE_INDEX, begun_count + count)
            put(mem, node + FrameField.OUTER_SPLIT, get(mem, ThreadField.INNERMOST_SPLIT))
            put(mem, node + FrameField.SPLIT_POINT, split)
            put(mem, node + FrameField.SPLIT_ROLE, SplitPointRole.OWNER)
            put(mem, ThreadField.INNERMOST_SPLIT, split)
            return True

        @inlined
        def close_split(mem: Any, shared: Any, frame: Any) -> Any:
            """Copy the result of the split point of `frame` to the frame, close the split point, and return True.

            While other threads still search moves of the split point, return False, and do nothing.
            """
            node = frame + words
            split = get(mem, node + FrameField.SPLIT_POINT)
            lock_split(shared, split)
            is_alone = get(shared, split + SplitField.MEMBER_COUNT) == 1
            if is_alone:
                put(mem, node + FrameField.ALPHA, get(shared, split + SplitField.ALPHA))
                put(mem, node + FrameField.BEST_VALUE, get(shared, split + SplitField.BEST_VALUE))
                put(mem, node + FrameField.BEST_MOVE, get(shared, split + SplitField.BEST_MOVE))
                put(mem, node + FrameField.SPLIT_ROLE, SplitPointRole.NONE)
                put(mem, ThreadField.INNERMOST_SPLIT, get(mem, node + FrameField.OUTER_SPLIT))
                put(shared, split + SplitField.IS_OPEN, 0)
            unlock_split(shared, split)
            return is_alone

        @inlined
        def claim_full_window_search(mem: Any, shared: Any, split: Any, node: Any) -> Any:
            """Take the first unfinished move of a split point, for a second search with the full window.

            If alpha has risen above the move's tested bound, the move is taken for another test with a null window instead.
            Return False, and take nothing, if this move needs no second search, or if another second search is running.
            The caller holds the split point's lock. `node` is the offset of the node's fields in this thread's memory.
            """
            count = get(shared, split + SplitField.MOVE_COUNT)
            i = get(shared, split + SplitField.DONE_PREFIX_LENGTH)
            while (
                i < count
                and get(shared, get_move_record(split, i) + SplitMoveField.MOVE_STATE) == MoveState.DONE
            ):
                i += 1
            put(shared, split + SplitField.DONE_PREFIX_LENGTH, i)
            if (
                i == count
                or get(shared, get_move_record(split, i) + SplitMoveField.MOVE_STATE)
                != MoveState.NEEDS_RE_SEARCH
                or get(shared, split + SplitField.HAS_RE_SEARCH) != 0
            ):
                return False
            best = get(shared, split + SplitField.ALPHA)
            move = get(shared, get_move_record(split, i) + SplitMoveField.MOVE)
            distance = get(shared, split + SplitField.DISTANCE_FROM_ROOT)
            best_move = get(shared, split + SplitField.BEST_MOVE)
            threshold = compute_best_move_threshold(
                best, best_move, move, distance, get(shared, SearchOption.IS_EXACT)
            )
            # if alpha has risen since the test, test again before searching with the whole window
            claimed = (
                1
                if get(shared, get_move_record(split, i) + SplitMoveField.TEST_THRESHOLD) >= threshold
                else 0
            )
            put(shared, split + SplitField.HAS_RE_SEARCH, claimed)
            put(shared, get_move_record(split, i) + SplitMoveField.MOVE_STATE, MoveState.RUNNING)
            put(mem, node + FrameField.IS_RE_SEARCH, claimed)
            put(mem, node + FrameField.SPLIT_MOVE_INDEX, i)
            put(mem, node + FrameField.CURRENT_MOVE, move)
            put(mem, node + FrameField.BEST_MOVE_THRESHOLD, threshold)
            return True

        @inlined
        def take_next_move(mem: Any, shared: Any, frame: Any) -> Any:
            """Take the next move of the split point at the node in `frame`. Return False if no move is left to take.

            The move is written to the frame's fields MOVE, SPLIT_INDEX, THRESHOLD and IS_RE_SEARCH.
            """
            node = frame + words
            split = get(mem, node + FrameField.SPLIT_POINT)
            has_move = False
            lock_split(shared, split)
            if get(shared, split + SplitField.MUST_LEAVE) == 0:
                has_move = claim_full_window_search(mem, shared, split, node)
                i = get(shared, split + SplitField.NEXT_MOVE_INDEX)
                if not has_move and i < get(shared, split + SplitField.MOVE_COUNT):
                    has_move = True
                    move = get(shared, get_move_record(split, i) + SplitMoveField.MOVE)
                    fixed = get(shared, split + SplitField.FIXED_ALPHA)
                    is_course_form = fixed != NO_FIXED_ALPHA_VALUE
                    best = fixed if is_course_form else get(shared, split + SplitField.ALPHA)
                    best_move = get(
                        shared,
                        split + (SplitField.FIXED_BEST_MOVE if is_course_form else SplitField.BEST_MOVE),
                    )
                    distance = get(shared, split + SplitField.DISTANCE_FROM_ROOT)
                    put(shared, split + SplitField.NEXT_MOVE_INDEX, i + 1)
                    put(shared, get_move_record(split, i) + SplitMoveField.MOVE_STATE, MoveState.RUNNING)
                    put(mem, node + FrameField.IS_RE_SEARCH, 0)
                    put(mem, node + FrameField.SPLIT_MOVE_INDEX, i)
                    put(mem, node + FrameField.CURRENT_MOVE, move)
                    put(
                        mem,
                        node + FrameField.BEST_MOVE_THRESHOLD,
                        compute_best_move_threshold(
                            best, best_move, move, distance, get(shared, SearchOption.IS_EXACT)
                        ),
                    )
            unlock_split(shared, split)
            return has_move

        @inlined
        def report_value(mem: Any, shared: Any, frame: Any, value: Any, was_null_window: Any) -> None:
            """Report the value of a searched move to the split point from which this thread took the move.

            `frame` holds the move (field CURRENT_MOVE). `was_null_window` is True if the move was searched only with a null
            window. If `value` reaches beta, all threads leave the split point.
            """
            node = frame + words
            split = get(mem, node + FrameField.SPLIT_POINT)
            move = get(mem, node + FrameField.CURRENT_MOVE)
            record_at = get_move_record(split, get(mem, node + FrameField.SPLIT_MOVE_INDEX))
            threshold = get(mem, node + FrameField.BEST_MOVE_THRESHOLD)
            lock_split(shared, split)
            if get(mem, node + FrameField.IS_RE_SEARCH) != 0:
                put(shared, split + SplitField.HAS_RE_SEARCH, 0)
            if get(shared, split + SplitField.MUST_LEAVE) == 0:
                best_move = get(shared, split + SplitField.BEST_MOVE)
                alpha = get(shared, split + SplitField.ALPHA)
                current_threshold = compute_best_move_threshold(
                    alpha,
                    best_move,
                    move,
                    get(shared, split + SplitField.DISTANCE_FROM_ROOT),
                    get(shared, SearchOption.IS_EXACT),
                )
                beta = get(shared, split + SplitField.BETA)
                put(shared, record_at + SplitMoveField.MOVE_STATE, MoveState.DONE)
                if value > threshold and was_null_window and value < beta:
                    put(shared, record_at + SplitMoveField.MOVE_STATE, MoveState.NEEDS_RE_SEARCH)
                    put(shared, record_at + SplitMoveField.TEST_THRESHOLD, threshold)
                else:
                    if value > get(shared, split + SplitField.BEST_VALUE):
                        put(shared, split + SplitField.BEST_VALUE, value)
                    if value > threshold and value > current_threshold:
                        put(shared, split + SplitField.BEST_MOVE, move)
                        put(shared, split + SplitField.ALPHA, value)
                        if (
                            value >= beta
                            and get(shared, split + SplitField.FIXED_ALPHA) == NO_FIXED_ALPHA_VALUE
                        ):
                            atomic_store(shared, split + SplitField.MUST_LEAVE, 1)
            unlock_split(shared, split)

        @inlined
        def has_unclaimed_moves(shared: Any, split: Any) -> Any:
            return (
                atomic_load(shared, split + SplitField.IS_OPEN) != 0
                and atomic_load(shared, split + SplitField.MUST_LEAVE) == 0
                and atomic_load(shared, split + SplitField.NEXT_MOVE_INDEX)
                < get(shared, split + SplitField.MOVE_COUNT)
            )

        @inlined
        def join_split(mem: Any, shared: Any, frame: Any, split: Any, ancestor: Any) -> Any:
            """Join another thread's split point as a helper, and copy the node of the split point to `frame`.

            Return False, and do nothing, if no move is left to take there, or if the split point is not below `ancestor`.
            """
            node = frame + words
            has_joined = False
            lock_split(shared, split)
            if has_unclaimed_moves(shared, split) and is_below_split(shared, split, ancestor):
                has_joined = True
                put(shared, split + SplitField.MEMBER_COUNT, get(shared, split + SplitField.MEMBER_COUNT) + 1)
                for i in range(words):
                    put(mem, frame + i, get(shared, split + position_at + i))
                put(mem, node + FrameField.DEPTH, get(shared, split + SplitField.DEPTH))
                put(
                    mem,
                    node + FrameField.DISTANCE_FROM_ROOT,
                    get(shared, split + SplitField.DISTANCE_FROM_ROOT),
                )
                put(mem, node + FrameField.BETA, get(shared, split + SplitField.BETA))
                put(mem, node + FrameField.FIXED_ALPHA, get(shared, split + SplitField.FIXED_ALPHA))
                put(mem, node + FrameField.OUTER_SPLIT, get(mem, ThreadField.INNERMOST_SPLIT))
                put(mem, node + FrameField.SPLIT_POINT, split)
                put(mem, node + FrameField.SPLIT_ROLE, SplitPointRole.HELPER)
                put(mem, ThreadField.INNERMOST_SPLIT, split)
                put(mem, ThreadField.CURRENT_FRAME_OFFSET, frame)
            unlock_split(shared, split)
            return has_joined

        @inlined
        def find_work(mem: Any, shared: Any, frame: Any, ancestor: Any) -> Any:
            """Join the split point with the greatest remaining depth among those that have moves to take.

            frame     stack frame to which the node of the split point is copied
            ancestor  split point below which the joined one must lie; -1 for no such condition

            Return False if none was joined.
            """
            chosen_split = -1
            max_depth = 0
            split_words = get(shared, SearchOption.SPLIT_WORDS)
            split = SharedField.SPLIT_POINTS_OFFSET + 0
            for _ in range(get(shared, SearchOption.THREAD_COUNT) * SPLITS_PER_THREAD):
                if has_unclaimed_moves(shared, split) and get(shared, split + SplitField.DEPTH) > max_depth:
                    max_depth = get(shared, split + SplitField.DEPTH)
                    chosen_split = split
                split += split_words
            return chosen_split >= 0 and join_split(mem, shared, frame, chosen_split, ancestor)

        @inlined
        def leave_split(mem: Any, shared: Any, frame: Any) -> Any:
            """Leave a split point that this thread has joined as a helper.

            `frame` is the stack frame into which the thread copied the node when it joined. Return True if it is the only
            frame on the thread's stack, so that the thread is now idle.
            """
            node = frame + words
            split = get(mem, node + FrameField.SPLIT_POINT)
            put(mem, ThreadField.INNERMOST_SPLIT, get(mem, node + FrameField.OUTER_SPLIT))
            put(mem, node + FrameField.SPLIT_ROLE, SplitPointRole.NONE)
            lock_split(shared, split)
            put(shared, split + SplitField.MEMBER_COUNT, get(shared, split + SplitField.MEMBER_COUNT) - 1)
            unlock_split(shared, split)
            if frame == FIRST_FRAME_OFFSET:
                return True
            put(mem, ThreadField.CURRENT_FRAME_OFFSET, frame - frame_words)
            return False

        @inlined
        def wait_for_helpers(mem: Any, shared: Any, frame: Any) -> None:
            """Let the owner of the split point in `frame` join another split point below its own, or else wait for its helpers.

            The wait is brief; the caller then checks again whether the helpers are done.
            """
            node = frame + words
            split = get(mem, node + FrameField.SPLIT_POINT)
            if find_work(mem, shared, frame + frame_words, split):
                return
            fetch_add(shared, SharedField.IDLE_THREAD_COUNT, 1)
            spin_count = 0
            while (
                spin_count < MAX_SPINS_BEFORE_YIELD
                and atomic_load(shared, split + SplitField.MEMBER_COUNT) > 1
            ):
                spin_pause()
                spin_count += 1
            failed_looks = get(mem, ThreadField.FAILED_WORK_CHECK_COUNT) + spin_count
            put(mem, ThreadField.FAILED_WORK_CHECK_COUNT, failed_looks)
            if spin_count == MAX_SPINS_BEFORE_YIELD and failed_looks >= MAX_WORK_CHECKS_BEFORE_YIELD:
                yield_core()
            fetch_add(shared, SharedField.IDLE_THREAD_COUNT, -1)

        @inlined
        def wait_to_join_split(mem: Any, shared: Any) -> Any:
            """Wait until this idle thread has joined a split point as a helper. Return False if the thread must quit."""
            put(mem, ThreadField.INNERMOST_SPLIT, -1)
            fetch_add(shared, SharedField.IDLE_THREAD_COUNT, 1)
            has_joined = False
            spin_count = 0
            while not has_joined and atomic_load(shared, SharedField.HELPERS_MUST_QUIT) == 0:
                if atomic_load(shared, SharedField.MUST_STOP) == 0 and find_work(
                    mem, shared, FIRST_FRAME_OFFSET, -1
                ):
                    has_joined = True
                elif spin_count < MAX_WORK_CHECKS_BEFORE_YIELD:
                    spin_pause()
                    spin_count += 1
                else:
                    yield_core()
            fetch_add(shared, SharedField.IDLE_THREAD_COUNT, -1)
            return has_joined

        @inlined
        def is_outer_search_interrupted(mem: Any, shared: Any, node: Any) -> Any:
            """Return True if all threads must stop, or must leave a split point above the split point of `node`.

            Threads must leave a split point whose field MUST_LEAVE is set.
            """
            inner_split = get(mem, ThreadField.INNERMOST_SPLIT)
            put(mem, ThreadField.INNERMOST_SPLIT, get(mem, node + FrameField.OUTER_SPLIT))
            is_outer_interrupted = is_search_interrupted(mem, shared)
            put(mem, ThreadField.INNERMOST_SPLIT, inner_split)
            return is_outer_interrupted

        self.open_split = open_split
        self.close_split = close_split
        self.take_next_move = take_next_move
        self.report_value = report_value
        self.leave_split = leave_split
        self.wait_for_helpers = wait_for_helpers
        self.wait_to_join_split = wait_to_join_split
        self.is_outer_search_interrupted = is_outer_search_interrupted
