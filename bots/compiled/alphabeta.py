"""Main search: alpha-beta with a transposition table, pruning and threads, written as one loop over an explicit stack.

The search is a fail-soft negamax, and promises:
- The fields DEPTH, ALPHA and BETA of a node's stack frame are the depth and the window of its search. The value of a node
  is for its player to move. At depth 0, the value is an estimate. A win counts WIN_VALUE minus its distance from the root.
- With the option IS_EXACT, the root gets the same value as plain minimax of that depth, and the same best move: the first of
  equally good ones. This holds for every number of threads and any content of the transposition table.
- If the search is stopped, the root's frame holds the best of the moves that were searched, and the table holds only
  correct entries.

Each step of the loop works on the stack frame that field CURRENT_FRAME_OFFSET points to, and returns the next step: count a
node, enter it, list its moves, choose its next move, begin the move, receive a value, or finish the node. All state is in
arrays, so a search can pause.

The search does not recurse. In a recursive kernel (function compiled by numba), each call would pass the search's arrays, which
numba passes as seven words each, and numba would not find the kernel in its cache.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from arena.bots.compiled.cache import compile_kernel, inlined
from arena.bots.compiled.history import EstimateCorrections, update_histories
from arena.bots.compiled.intrinsics import atomic_load, atomic_store, fetch_add, get, put, yield_core
from arena.bots.compiled.jamboree import SplitPoints, compute_best_move_threshold, is_search_interrupted
from arena.bots.compiled.kernel import PLAYING, Kernel
from arena.bots.compiled.last_ply import FrontierNodeSearch, compute_match_end_value
from arena.bots.compiled.memory_layout import (
    FIRST_FRAME_OFFSET,
    NO_FIXED_ALPHA_VALUE,
    FrameField,
    MemorySizes,
    MoveListState,
    SearchKind,
    SearchOption,
    SharedField,
    SplitField,
    SplitPointRole,
    ThreadField,
)
from arena.bots.compiled.ordering import MoveOrdering
from arena.bots.compiled.selective import NOT_PRUNED_VALUE, SelectivePruning
from arena.bots.compiled.table import (
    EXACT,
    LOWER,
    UPPER,
    decides_window,
    make_hash_function,
    mix_plies_left_into_key,
    prefetch_bucket,
    probe_bucket,
    store_entry,
    unpack_depth,
    unpack_move,
    unpack_value,
)
from arena.bots.search.search_values import ESTIMATE_LIMIT, INFINITY, WIN_VALUE

(
    COUNT_NODE,
    ENTER_NODE,
    LIST_MOVES,
    NEXT_MOVE,
    BEGIN_MOVE,
    RECEIVE_VALUE,
    FINISH_NODE,
    LEAVE_NODE,
    WAIT_FOR_WORK,
    ROOT_DONE,
    STOPPED,
    PAUSED,
) = range(12)
"""Steps of the search loop, each the loop's next action or the reason for its end.

COUNT_NODE     count a node                     FINISH_NODE    store a node's value and pass it to the parent
ENTER_NODE     look for a value without search  LEAVE_NODE     leave a node whose search must end
LIST_MOVES     list the node's moves            WAIT_FOR_WORK  wait for work of another thread
NEXT_MOVE      choose the next move             ROOT_DONE      the root is searched
BEGIN_MOVE     play the chosen move             STOPPED        the search was stopped, or a helper must return
RECEIVE_VALUE  receive the move's value         PAUSED         the caller may look at the clock and call again

At ROOT_DONE, STOPPED and PAUSED, the loop ends, and the kernel returns the step.
"""
_STOP_CHECK_NODE_MASK = 31
"""Bit mask of the number of nodes that a thread has entered: if the masked bits are 0, the thread checks for a stop.

The masked bits are 0 at every 32nd node.
"""


@cache
def make_search_kernel(kernel: Kernel) -> Callable[..., Any]:
    """Return the function search(mem, shared, rules, table, is_helper), compiled for the game whose functions are in `kernel`.

    mem        this thread's memory (`bots.compiled.memory_layout`)
    shared     memory of all threads
    rules      rules of the game on its map, as an array
    table      transposition table
    is_helper  0 to search the root, which is in frame 0, and return ROOT_DONE, STOPPED or PAUSED. 1 to help other threads at
               their split points (nodes whose moves several threads search) until SharedField.HELPERS_MUST_QUIT is set, and
               return STOPPED.

    The field NEXT_STEP of `mem` holds the first step: COUNT_NODE, or WAIT_FOR_WORK for a helper. A search of the root also
    returns PAUSED after every SearchOption.NODES_BETWEEN_PAUSES nodes, and while it waits for helpers. The caller then looks at
    the clock, and calls the function again with the same arguments: the search goes on where it stood.
    """
    words = kernel.words
    frame_words = MemorySizes(words, 0).frame_words
    moves, play, status, estimate = kernel.moves, kernel.play, kernel.status, kernel.estimate
    hash_position = make_hash_function(kernel.key_word_count)
    order = MoveOrdering(kernel)
    score_moves, select_best_move, put_hint_first = (
        order.score_moves,
        order.select_best_move,
        order.put_hint_first,
    )
    corrections = EstimateCorrections(kernel)
    selective = SelectivePruning(kernel, corrections.get_corrected_estimate)
    find_futility_bound, may_skip_late_moves = selective.find_futility_bound, selective.may_skip_late_moves
    begin_probcut, find_probcut_bound = selective.begin_probcut, selective.find_probcut_bound
    reduce_late_move, reduce_without_hint = selective.reduce_late_move, selective.reduce_without_hint
    correct_leaf_estimate, update_correction = (
        corrections.correct_leaf_estimate,
        corrections.update_correction,
    )
    jamboree = SplitPoints(kernel, frame_words, select_best_move)
    open_split, close_split = jamboree.open_split, jamboree.close_split
    take_next_move, report_value = jamboree.take_next_move, jamboree.report_value
    leave_split, wait_for_helpers = jamboree.leave_split, jamboree.wait_for_helpers
    wait_to_join_split = jamboree.wait_to_join_split
    is_outer_search_interrupted = jamboree.is_outer_search_interrupted

    @inlined
    def return_value_to_parent(mem: Any, frame: Any, value: Any) -> Any:
        """Pass the value of the node in `frame` to its parent. Return the next step of the loop, at the parent."""
        put(mem, ThreadField.CHILD_VALUE, -value)
        put(mem, ThreadField.CURRENT_FRAME_OFFSET, frame - frame_words)
        return RECEIVE_VALUE

    @inlined
    def enter_child(mem: Any, frame: Any, depth: Any, low: Any, high: Any) -> Any:
        """Enter the child of the node in `frame`, whose position is already stored. Return the next step of the loop.

        `low` and `high` are the window for the player to move in `frame`.
        """
        node = frame + words
        child = node + frame_words
        put(mem, child + FrameField.DEPTH, depth)
        put(mem, child + FrameField.DISTANCE_FROM_ROOT, get(mem, node + FrameField.DISTANCE_FROM_ROOT) + 1)
        put(mem, child + FrameField.ALPHA, -high)
        put(mem, child + FrameField.BETA, -low)
        put(mem, ThreadField.CURRENT_FRAME_OFFSET, frame + frame_words)
        return COUNT_NODE

    @inlined
    def may_use_table_entry(mem: Any, shared: Any, node: Any, entry_depth: Any, value: Any) -> Any:
        """Return True if the search may use a transposition table entry for a node.

        entry_depth, value  depth and value of the entry

        The entry must have the node's depth. A selective search also uses a deeper entry, but only if that entry's
        search ended before the ply limit (the ply at which a match is a draw). A win or loss that comes after the ply
        limit is never used: a deeper entry may have such a value, and so may an entry with the node's depth whose own
        search used a deeper entry.
        """
        depth = get(mem, node + FrameField.DEPTH)
        plies_left = get(shared, SearchOption.PLIES_LEFT_AT_ROOT)
        is_deeper_allowed = get(shared, SearchOption.IS_SELECTIVE) != 0 and entry_depth < plies_left - get(
            mem, node + FrameField.DISTANCE_FROM_ROOT
        )
        is_before_limit = abs(value) <= ESTIMATE_LIMIT or WIN_VALUE - abs(value) <= plies_left
        return (entry_depth == depth or (is_deeper_allowed and entry_depth > depth)) and is_before_limit

    @inlined
    def count_nodes_and_check_stop(mem: Any, shared: Any) -> Any:
        """Add this thread's new nodes to the total of all threads. Return True if the search must stop."""
        new_nodes = get(mem, ThreadField.NODE_COUNT) - get(mem, ThreadField.REPORTED_NODE_COUNT)
        put(mem, ThreadField.REPORTED_NODE_COUNT, get(mem, ThreadField.NODE_COUNT))
        if fetch_add(shared, SharedField.NODE_COUNT, new_nodes) + new_nodes >= get(
            shared, SearchOption.NODE_LIMIT
        ):
            atomic_store(shared, SharedField.MUST_STOP, 1)
        return is_search_interrupted(mem, shared)

    @inlined
    def pause(mem: Any, next_step: Any) -> Any:
        """Return PAUSED, which ends the kernel's call. The next call begins with the step `next_step`."""
        put(mem, ThreadField.NODE_COUNT_AT_PAUSE, get(mem, ThreadField.NODE_COUNT))
        put(mem, ThreadField.NEXT_STEP, next_step)
        return PAUSED

    @inlined
    def count_node(mem: Any, shared: Any, is_helper: Any) -> Any:
        """Count the current node (field CURRENT_FRAME_OFFSET), and return the next step of the loop.

        After every 32 nodes, look whether the search must stop or pause.
        """
        node = get(mem, ThreadField.CURRENT_FRAME_OFFSET) + words
        entered_count = get(mem, ThreadField.ENTERED_COUNT) + 1
        put(mem, ThreadField.ENTERED_COUNT, entered_count)
        put(mem, ThreadField.NODE_COUNT, get(mem, ThreadField.NODE_COUNT) + 1)
        put(mem, node + FrameField.SPLIT_ROLE, SplitPointRole.NONE)
        put(mem, node + FrameField.FIXED_ALPHA, NO_FIXED_ALPHA_VALUE)
        if entered_count & _STOP_CHECK_NODE_MASK == 0:
            if count_nodes_and_check_stop(mem, shared):
                return LEAVE_NODE
            new_nodes = get(mem, ThreadField.NODE_COUNT) - get(mem, ThreadField.NODE_COUNT_AT_PAUSE)
            if is_helper == 0 and new_nodes >= get(shared, SearchOption.NODES_BETWEEN_PAUSES):
                return pause(mem, ENTER_NODE)
        return ENTER_NODE

    @inlined
    def enter_node(mem: Any, shared: Any, rules: Any, table: Any) -> Any:
        """Leave the current node (field CURRENT_FRAME_OFFSET) if a bound or a table entry already gives its value.

        Otherwise begin ProbCut (a shallower search of the same position) if it applies. A node whose children are all
        leaves may be searched here at once (`last_ply`). Return the next step of the loop.
        """
        frame = get(mem, ThreadField.CURRENT_FRAME_OFFSET)
        node = frame + words
        if can_foresee and is_above_leaves(mem, shared, node):
            return search_last_ply(mem, shared, rules, frame)
        depth = get(mem, node + FrameField.DEPTH)
        distance_from_root = get(mem, node + FrameField.DISTANCE_FROM_ROOT)
        key = hash_position(mem, frame)
        plies_left = get(shared, SearchOption.PLIES_LEFT_AT_ROOT) - distance_from_root
        if depth >= plies_left:
            key = mix_plies_left_into_key(key, plies_left)
        put(mem, node + FrameField.TABLE_KEY, key)
        prefetch_bucket(table, get(shared, SearchOption.TABLE_MASK), key)
        if get(shared, SearchOption.IS_SELECTIVE) != 0:
            put(
                mem,
                node + FrameField.ESTIMATE,
                estimate(rules, mem, frame) + get(shared, SearchOption.TEMPO_VALUE),
            )
        value = find_futility_bound(mem, shared, frame)
        if value != NOT_PRUNED_VALUE:
            return return_value_to_parent(mem, frame, value)
        hint = -1
        if get(shared, SearchOption.USE_TABLE) != 0:
            packed_entry = probe_bucket(table, get(shared, SearchOption.TABLE_MASK), key)
            if packed_entry != 0:
                hint = unpack_move(packed_entry)
                value = unpack_value(packed_entry, distance_from_root)
                if (
                    distance_from_root > 0
                    and may_use_table_entry(mem, shared, node, unpack_depth(packed_entry), value)
                    and decides_window(
                        packed_entry,
                        value,
                        get(mem, node + FrameField.ALPHA),
                        get(mem, node + FrameField.BETA),
                    )
                ):
                    put(mem, ThreadField.ESTIMATE_COUNT, get(mem, ThreadField.ESTIMATE_COUNT) + 1)
                    return return_value_to_parent(mem, frame, value)
        put(mem, node + FrameField.HINT_MOVE, hint)
        return COUNT_NODE if begin_probcut(mem, shared, frame) else LIST_MOVES

    @inlined
    def list_node_moves(mem: Any, shared: Any, rules: Any) -> Any:
        """List the moves of the current node (field CURRENT_FRAME_OFFSET), the transposition table's move first.

        Return the next step of the loop.
        """
        frame = get(mem, ThreadField.CURRENT_FRAME_OFFSET)
        node = frame + words
        distance_from_root = get(mem, node + FrameField.DISTANCE_FROM_ROOT)
        hint = get(mem, node + FrameField.HINT_MOVE)
        reduce_without_hint(mem, shared, node)
        list_moves(mem, rules, frame, distance_from_root)
        put(mem, node + FrameField.INITIAL_ALPHA, get(mem, node + FrameField.ALPHA))
        put(mem, node + FrameField.BEST_VALUE, -INFINITY)
        put(mem, node + FrameField.BEST_MOVE, -1)
        put(mem, node + FrameField.NEXT_MOVE_INDEX, 0)
        if hint >= 0 and distance_from_root > 0 and not put_hint_first(mem, node, hint):
            hint = -1
        put(mem, node + FrameField.HINT_MOVE, hint)
        return NEXT_MOVE

    @inlined
    def list_moves(mem: Any, rules: Any, frame: Any, distance_from_root: Any) -> None:
        """Write the moves of a node to its move list; at the root, only the moves that the caller wants searched."""
        node = frame + words
        list_at = get(mem, ThreadField.MOVE_LISTS_OFFSET) + (frame - FIRST_FRAME_OFFSET) // frame_words * get(
            mem, ThreadField.MOVE_LIST_WORDS
        )
        count = moves(rules, mem, frame, list_at)
        put(mem, node + FrameField.MOVE_LIST_OFFSET, list_at)
        put(mem, node + FrameField.MOVE_COUNT, count)
        put(mem, node + FrameField.MOVE_LIST_STATE, MoveListState.UNSORTED)
        if distance_from_root == 0:
            count = get(mem, ThreadField.ROOT_MOVE_COUNT)
            put(mem, node + FrameField.MOVE_COUNT, count)
            for i in range(count):
                put(mem, list_at + i, get(mem, get(mem, ThreadField.ROOT_ORDER_OFFSET) + i))
            # Only the search to depth 1 sorts the root's moves. For greater depths, the caller gives their order.
            if get(mem, node + FrameField.DEPTH) > 1:
                put(mem, node + FrameField.MOVE_LIST_STATE, MoveListState.SORTED)

    last = FrontierNodeSearch(kernel, frame_words, list_moves, return_value_to_parent)
    can_foresee, is_above_leaves, search_last_ply = (
        last.can_foresee,
        last.is_above_leaves,
        last.search_last_ply,
    )

    @inlined
    def next_move(mem: Any, shared: Any, rules: Any, is_helper: Any) -> Any:
        """Choose the next move of the current node (field CURRENT_FRAME_OFFSET).

        If other threads are idle, open a split point instead, at which all threads share the remaining moves. Return the next
        step of the loop.
        """
        frame = get(mem, ThreadField.CURRENT_FRAME_OFFSET)
        node = frame + words
        if get(mem, node + FrameField.SPLIT_ROLE) != SplitPointRole.NONE:
            return take_shared_move(mem, shared, frame, is_helper)
        rank = get(mem, node + FrameField.NEXT_MOVE_INDEX)
        if rank >= get(mem, node + FrameField.MOVE_COUNT) or may_skip_late_moves(mem, shared, node, rank):
            return FINISH_NODE
        if get(mem, node + FrameField.MOVE_LIST_STATE) == MoveListState.UNSORTED and (
            rank > 0 or get(mem, node + FrameField.HINT_MOVE) < 0
        ):
            score_moves(mem, shared, rules, frame)
        if get(mem, node + FrameField.DEPTH) >= get(shared, SearchOption.SPLIT_DEPTH):
            fix_alpha_for_later_moves(mem, shared, node, rank)
            if (
                rank > 0
                and atomic_load(shared, SharedField.IDLE_THREAD_COUNT) > 0
                and (
                    get(shared, SearchOption.IS_COURSE_FORM) == 0
                    or get(mem, node + FrameField.FIXED_ALPHA) != NO_FIXED_ALPHA_VALUE
                )
                and open_split(mem, shared, frame)
            ):
                return NEXT_MOVE
        if get(mem, node + FrameField.MOVE_LIST_STATE) == MoveListState.SCORED:
            select_best_move(mem, node, rank)
        move = get(mem, get(mem, node + FrameField.MOVE_LIST_OFFSET) + rank)
        distance_from_root = get(mem, node + FrameField.DISTANCE_FROM_ROOT)
        exact = get(shared, SearchOption.IS_EXACT)
        threshold = compute_best_move_threshold(
            get(mem, node + FrameField.ALPHA),
            get(mem, node + FrameField.BEST_MOVE),
            move,
            distance_from_root,
            exact,
        )
        fixed = get(mem, node + FrameField.FIXED_ALPHA)
        if fixed != NO_FIXED_ALPHA_VALUE:
            threshold = compute_best_move_threshold(
                fixed, get(mem, node + FrameField.FIXED_BEST_MOVE), move, distance_from_root, exact
            )
        put(mem, node + FrameField.NEXT_MOVE_INDEX, rank + 1)
        put(mem, node + FrameField.CURRENT_MOVE, move)
        put(mem, node + FrameField.BEST_MOVE_THRESHOLD, threshold)
        put(mem, node + FrameField.MOVE_RANK, rank)
        return BEGIN_MOVE

    @inlined
    def fix_alpha_for_later_moves(mem: Any, shared: Any, node: Any, begun_count: Any) -> None:
        """Fix alpha for all later moves of the node, once enough moves were searched in sequence.

        This applies only to Jamboree in the form of source 001 (docs/search.md). It searches floor(prune × n) of a node's n
        moves in sequence, and all others with the window that results. `begun_count` is the number of moves already begun.
        """
        sequential_count = (
            get(shared, SearchOption.PRUNE_PERMILLE) * get(mem, node + FrameField.MOVE_COUNT) // 1000
        )
        if get(shared, SearchOption.IS_COURSE_FORM) != 0 and begun_count == sequential_count:
            put(mem, node + FrameField.FIXED_ALPHA, get(mem, node + FrameField.ALPHA))
            put(mem, node + FrameField.FIXED_BEST_MOVE, get(mem, node + FrameField.BEST_MOVE))

    @inlined
    def begin_move(mem: Any, shared: Any, rules: Any) -> Any:
        """Begin to search the chosen move of the current node: play it, and enter the position after it.

        A leaf, where the match ends or the depth is 0, is not entered: the next step receives its value.

        The fields MOVE and THRESHOLD of the node's frame hold the move, and the value that the move must exceed to
        become the best one. Return the next step of the loop.
        """
        frame = get(mem, ThreadField.CURRENT_FRAME_OFFSET)
        node = frame + words
        rank = get(mem, node + FrameField.MOVE_RANK)
        child_frame = frame + frame_words
        threshold = get(mem, node + FrameField.BEST_MOVE_THRESHOLD)
        beta = get(mem, node + FrameField.BETA)
        play(rules, mem, frame, child_frame, get(mem, node + FrameField.CURRENT_MOVE))
        distance_from_root = get(mem, node + FrameField.DISTANCE_FROM_ROOT) + 1
        depth = get(mem, node + FrameField.DEPTH) - 1
        put(mem, node + FrameField.SEARCH_KIND, SearchKind.FULL_WINDOW)
        outcome = status(rules, mem, child_frame)
        if outcome != PLAYING:
            put(mem, ThreadField.NODE_COUNT, get(mem, ThreadField.NODE_COUNT) + 1)
            put(mem, ThreadField.CHILD_VALUE, compute_match_end_value(outcome, distance_from_root))
            return RECEIVE_VALUE
        if distance_from_root >= get(shared, SearchOption.PLIES_LEFT_AT_ROOT):
            put(mem, ThreadField.NODE_COUNT, get(mem, ThreadField.NODE_COUNT) + 1)
            put(mem, ThreadField.CHILD_VALUE, 0)
            return RECEIVE_VALUE
        if depth <= 0:
            put(mem, ThreadField.NODE_COUNT, get(mem, ThreadField.NODE_COUNT) + 1)
            put(mem, ThreadField.ESTIMATE_COUNT, get(mem, ThreadField.ESTIMATE_COUNT) + 1)
            value = estimate(rules, mem, child_frame) + get(shared, SearchOption.TEMPO_VALUE)
            put(mem, ThreadField.CHILD_VALUE, -value - correct_leaf_estimate(mem, shared, child_frame))
            return RECEIVE_VALUE
        high = beta
        fixed = get(mem, node + FrameField.FIXED_ALPHA) != NO_FIXED_ALPHA_VALUE
        if (
            rank > 0
            and beta - threshold > 1
            and get(shared, SearchOption.USE_NULL_WINDOWS) != 0
            and not fixed
        ):
            put(mem, node + FrameField.SEARCH_KIND, SearchKind.NULL_WINDOW)
            high = threshold + 1
        if high - threshold == 1:
            reduction = reduce_late_move(mem, shared, node)
            if reduction > 0:
                put(mem, node + FrameField.SEARCH_KIND, SearchKind.REDUCED_DEPTH)
                depth -= reduction
        return enter_child(mem, frame, depth, threshold, high)

    @inlined
    def receive_probcut_value(mem: Any, shared: Any, table: Any) -> Any:
        """Leave the current node if ProbCut (a shallower search of its position) has given a bound outside its window.

        Otherwise go on to list the node's moves, with the best move of the shallower search first. Return the next step
        of the loop.
        """
        frame = get(mem, ThreadField.CURRENT_FRAME_OFFSET)
        node = frame + words
        value = find_probcut_bound(mem, shared, frame)
        if value != NOT_PRUNED_VALUE:
            return return_value_to_parent(mem, frame, value)
        if get(shared, SearchOption.USE_TABLE) != 0 and get(mem, node + FrameField.HINT_MOVE) < 0:
            packed_entry = probe_bucket(
                table, get(shared, SearchOption.TABLE_MASK), get(mem, node + FrameField.TABLE_KEY)
            )
            if packed_entry != 0:
                put(mem, node + FrameField.HINT_MOVE, unpack_move(packed_entry))
        return LIST_MOVES

    @inlined
    def receive_value(mem: Any, shared: Any, table: Any) -> Any:
        """Receive the value of the current node's move (frame field CURRENT_MOVE). Compare it with BEST_MOVE_THRESHOLD.

        THRESHOLD is the value that the move must exceed to become the best one. If a search to a reduced depth exceeded
        it, search the move again to the full depth. If a search with a null window gave a value between alpha and beta,
        search the move again with the full window.

        Return the next step of the loop.
        """
        frame = get(mem, ThreadField.CURRENT_FRAME_OFFSET)
        node = frame + words
        value = get(mem, ThreadField.CHILD_VALUE)
        threshold = get(mem, node + FrameField.BEST_MOVE_THRESHOLD)
        beta = get(mem, node + FrameField.BETA)
        is_shared = get(mem, node + FrameField.SPLIT_ROLE) != SplitPointRole.NONE
        window = get(mem, node + FrameField.SEARCH_KIND)
        if window == SearchKind.PROBCUT:
            return receive_probcut_value(mem, shared, table)
        if window == SearchKind.REDUCED_DEPTH and value > threshold:
            put(
                mem,
                node + FrameField.SEARCH_KIND,
                SearchKind.NULL_WINDOW if beta - threshold > 1 else SearchKind.FULL_WINDOW,
            )
            return enter_child(mem, frame, get(mem, node + FrameField.DEPTH) - 1, threshold, threshold + 1)
        if is_shared:
            report_value(mem, shared, frame, value, window != SearchKind.FULL_WINDOW)
            return NEXT_MOVE
        if window == SearchKind.NULL_WINDOW and value > threshold and value < beta:
            put(mem, node + FrameField.SEARCH_KIND, SearchKind.FULL_WINDOW)
            return enter_child(mem, frame, get(mem, node + FrameField.DEPTH) - 1, threshold, beta)
        if value > get(mem, node + FrameField.BEST_VALUE):
            put(mem, node + FrameField.BEST_VALUE, value)
        if value > threshold:
            return update_best(mem, shared, node, value, beta)
        return NEXT_MOVE

    @inlined
    def update_best(mem: Any, shared: Any, node: Any, value: Any, beta: Any) -> Any:
        """Make the move that was just searched (frame field CURRENT_MOVE) the best: its value exceeds BEST_MOVE_THRESHOLD.

        In the form of Jamboree in source 001 (docs/search.md), alpha is fixed for the parallel moves, so another move
        may have raised the node's best value above THRESHOLD. If that move is better than MOVE, it is kept.

        Return the next step of the loop.
        """
        move = get(mem, node + FrameField.CURRENT_MOVE)
        fixed = get(mem, node + FrameField.FIXED_ALPHA) != NO_FIXED_ALPHA_VALUE
        if fixed:
            distance_from_root = get(mem, node + FrameField.DISTANCE_FROM_ROOT)
            best_move = get(mem, node + FrameField.BEST_MOVE)
            alpha = get(mem, node + FrameField.ALPHA)
            if value <= compute_best_move_threshold(
                alpha, best_move, move, distance_from_root, get(shared, SearchOption.IS_EXACT)
            ):
                return NEXT_MOVE
        put(mem, node + FrameField.ALPHA, value)
        put(mem, node + FrameField.BEST_MOVE, move)
        if value >= beta and not fixed:
            if get(shared, SearchOption.IS_SELECTIVE) != 0:
                update_histories(mem, node)
            return FINISH_NODE
        return NEXT_MOVE

    @inlined
    def finish_node(mem: Any, shared: Any, table: Any, is_helper: Any) -> Any:
        """Store the node's value in the transposition table, and pass it to the parent; at the root, end the search.

        Return the next step of the loop.
        """
        frame = get(mem, ThreadField.CURRENT_FRAME_OFFSET)
        node = frame + words
        best = get(mem, node + FrameField.BEST_VALUE)
        is_restricted_root = (
            frame == FIRST_FRAME_OFFSET and is_helper == 0 and get(mem, ThreadField.IS_ROOT_RESTRICTED) != 0
        )
        bound = EXACT
        move = get(mem, node + FrameField.BEST_MOVE)
        if best >= get(mem, node + FrameField.BETA):
            bound = LOWER
        elif best <= get(mem, node + FrameField.INITIAL_ALPHA):
            bound = UPPER
            move = get(mem, node + FrameField.HINT_MOVE)
        if not is_restricted_root:
            update_correction(mem, shared, frame, best, bound)
        if get(shared, SearchOption.USE_TABLE) != 0 and not is_restricted_root:
            store_entry(
                table,
                get(shared, SearchOption.TABLE_MASK),
                get(mem, node + FrameField.TABLE_KEY),
                best,
                get(mem, node + FrameField.DISTANCE_FROM_ROOT),
                get(mem, node + FrameField.DEPTH),
                bound,
                move,
                get(shared, SearchOption.TABLE_GENERATION),
            )
        if frame == FIRST_FRAME_OFFSET and is_helper == 0:
            return ROOT_DONE
        return return_value_to_parent(mem, frame, best)

    @inlined
    def take_shared_move(mem: Any, shared: Any, frame: Any, is_helper: Any) -> Any:
        """Take the next move of a split point (a node whose moves several threads search).

        If no move is left, a helper leaves the split point, and its owner waits for the helpers.

        Return the next step of the loop.
        """
        node = frame + words
        if take_next_move(mem, shared, frame):
            # A claimed move is searched with the whole window, like a node's first move.
            rank = get(mem, node + FrameField.SPLIT_MOVE_INDEX) + get(
                shared, get(mem, node + FrameField.SPLIT_POINT) + SplitField.MOVE_COUNT_BEFORE_SPLIT
            )
            put(
                mem, node + FrameField.MOVE_RANK, 0 if get(mem, node + FrameField.IS_RE_SEARCH) != 0 else rank
            )
            put(mem, ThreadField.FAILED_WORK_CHECK_COUNT, 0)
            return BEGIN_MOVE
        if get(mem, node + FrameField.SPLIT_ROLE) == SplitPointRole.HELPER:
            return WAIT_FOR_WORK if leave_split(mem, shared, frame) else NEXT_MOVE
        if close_split(mem, shared, frame):
            return FINISH_NODE
        if is_outer_search_interrupted(mem, shared, node):
            return LEAVE_NODE
        wait_for_helpers(mem, shared, frame)
        return pause(mem, NEXT_MOVE) if is_helper == 0 else NEXT_MOVE

    @inlined
    def leave_interrupted_node(mem: Any, shared: Any) -> Any:
        """Leave the frame of a node whose search must end (`is_search_interrupted`), without a result.

        Return the next step of the loop, for the nearest ancestor whose search need not end.
        """
        frame = get(mem, ThreadField.CURRENT_FRAME_OFFSET)
        node = frame + words
        role = get(mem, node + FrameField.SPLIT_ROLE)
        if role == SplitPointRole.HELPER:
            if leave_split(mem, shared, frame):
                return WAIT_FOR_WORK
            return LEAVE_NODE if is_search_interrupted(mem, shared) else NEXT_MOVE
        if role == SplitPointRole.OWNER:
            atomic_store(shared, get(mem, node + FrameField.SPLIT_POINT) + SplitField.MUST_LEAVE, 1)
            while not close_split(mem, shared, frame):
                yield_core()
            if not is_search_interrupted(mem, shared):
                return FINISH_NODE
        if frame == FIRST_FRAME_OFFSET:
            return STOPPED
        put(mem, ThreadField.CURRENT_FRAME_OFFSET, frame - frame_words)
        return LEAVE_NODE

    def search(mem: Any, shared: Any, rules: Any, table: Any, is_helper: Any) -> Any:
        next_step = get(mem, ThreadField.NEXT_STEP)
        while True:
            if next_step == COUNT_NODE:
                next_step = count_node(mem, shared, is_helper)
            if next_step == ENTER_NODE:
                next_step = enter_node(mem, shared, rules, table)
            elif next_step == NEXT_MOVE:
                next_step = next_move(mem, shared, rules, is_helper)
            elif next_step == BEGIN_MOVE:
                next_step = begin_move(mem, shared, rules)
            elif next_step == RECEIVE_VALUE:
                next_step = receive_value(mem, shared, table)
            elif next_step == LIST_MOVES:
                next_step = list_node_moves(mem, shared, rules)
            elif next_step == FINISH_NODE:
                next_step = finish_node(mem, shared, table, is_helper)
            elif next_step == LEAVE_NODE:
                next_step = leave_interrupted_node(mem, shared)
            elif next_step == WAIT_FOR_WORK:
                next_step = NEXT_MOVE if wait_to_join_split(mem, shared) else STOPPED
            else:
                return next_step

    return compile_kernel(search, f"search-{kernel.name}")
