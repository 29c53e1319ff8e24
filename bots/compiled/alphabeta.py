"""Main search: alpha-beta with all optimizations, written as one loop over an explicit stack.

Contract: negamax, fail-soft. A node is searched DEPTH plies deep with the window from ALPHA to BETA, and its value is
for its player to move. A node at depth 0 is estimated, and a won node is worth WIN minus its distance from the root.
With option EXACT, the root has the value and the leftmost best move of plain minimax at that depth, for every number of
threads and any content of the table. If the search is stopped, the root's frame holds the best of the moves that were
searched, and the table holds only correct entries.

Each step of the loop works on the frame at register AT and returns the next step: enter a node, choose its next move,
begin the move, receive a value, or finish the node. All state is in arrays, and none on the call stack: a recursive
kernel would pass its arrays, seven words each, at every call, and numba would not find it in its cache.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from arena.bots.compiled.cache import compile_kernel, inlined
from arena.bots.compiled.intrinsics import atomic_load, atomic_store, fetch_add, get, put, yield_core
from arena.bots.compiled.jamboree import SplitPoints, is_interrupted, value_to_exceed
from arena.bots.compiled.kernel import PLAYING, Kernel
from arena.bots.compiled.last_ply import LastPlySearch, compute_end_value
from arena.bots.compiled.memory_layout import (
    FIRST,
    UNFIXED,
    Frame,
    ListState,
    Option,
    Register,
    SearchWindow,
    Shared,
    Sizes,
    Split,
    SplitPointRole,
)
from arena.bots.compiled.ordering import MoveOrdering
from arena.bots.compiled.selective import UNSETTLED, SelectivePruning
from arena.bots.compiled.table import (
    EXACT,
    LOWER,
    UPPER,
    decides_window,
    make_hash,
    prefetch_bucket,
    probe,
    salt_key,
    store_entry,
    stored_depth,
    stored_move,
    stored_value,
)
from arena.bots.search.search_values import INFINITY

ENTER, NEXT, BEGIN, GOT, FINISH, UNWIND, IDLE, DONE, STOPPED = range(9)
_POLL = 31


@cache
def make_search(game: Kernel) -> Any:
    """Return the kernel search(mem, shared, rules, table, helping) for one game.

    If `helping` is 0, it searches the root in frame 0 and returns DONE or STOPPED. If `helping` is 1, it works at split
    points of other threads until Shared.QUIT.
    """
    words = game.words
    frame_words = Sizes(words, 0).frame_words
    moves, play, status, estimate = game.moves, game.play, game.status, game.estimate
    hash_position = make_hash(game.key_words)
    order = MoveOrdering(game)
    score_moves, pick_best, move_hint_first = order.score_moves, order.pick_best, order.move_hint_first
    selective = SelectivePruning(game)
    find_settled_bound, skips_late_moves = selective.find_settled_bound, selective.skips_late_moves
    jamboree = SplitPoints(game, frame_words, pick_best)
    open_split, close_split = jamboree.open_split, jamboree.close_split
    take_move, report_value = jamboree.take_move, jamboree.report_value
    leave_split, wait_for_helpers = jamboree.leave_split, jamboree.wait_for_helpers
    wait_for_work = jamboree.wait_for_work
    is_interrupted_outside = jamboree.is_interrupted_outside

    @inlined
    def return_value(mem: Any, at: Any, value: Any) -> Any:
        """Pass the value of the node at `at` to its parent, and continue there."""
        put(mem, Register.VALUE, -value)
        put(mem, Register.AT, at - frame_words)
        return GOT

    @inlined
    def enter_child(mem: Any, at: Any, depth: Any, low: Any, high: Any) -> Any:
        """Enter the child of the node at `at`. The child's position is already stored.

        `low` and `high` are the window for the player to move at `at`.
        """
        node = at + words
        child = node + frame_words
        put(mem, child + Frame.DEPTH, depth)
        put(mem, child + Frame.DISTANCE, get(mem, node + Frame.DISTANCE) + 1)
        put(mem, child + Frame.ALPHA, -high)
        put(mem, child + Frame.BETA, -low)
        put(mem, Register.AT, at + frame_words)
        return ENTER

    @inlined
    def must_stop(mem: Any, shared: Any) -> Any:
        """Add this thread's new nodes to the total of all threads. Return True if the search must stop."""
        new = get(mem, Register.NODES) - get(mem, Register.COUNTED)
        put(mem, Register.COUNTED, get(mem, Register.NODES))
        if fetch_add(shared, Shared.NODES, new) + new >= get(shared, Option.NODE_LIMIT):
            atomic_store(shared, Shared.STOP, 1)
        return is_interrupted(mem, shared)

    @inlined
    def enter_node(mem: Any, shared: Any, rules: Any, table: Any) -> Any:
        """Count the node, and list its moves, unless a bound or the transposition table already gives its value."""
        at = get(mem, Register.AT)
        node = at + words
        entered = get(mem, Register.ENTERED) + 1
        put(mem, Register.ENTERED, entered)
        put(mem, Register.NODES, get(mem, Register.NODES) + 1)
        put(mem, node + Frame.ROLE, SplitPointRole.NONE)
        put(mem, node + Frame.FIXED_ALPHA, UNFIXED)
        if entered & _POLL == 0 and must_stop(mem, shared):
            return UNWIND
        if can_foresee and is_above_leaves(mem, shared, node):
            value = find_settled_bound(mem, shared, rules, at)
            return (
                search_last_ply(mem, shared, rules, at)
                if value == UNSETTLED
                else return_value(mem, at, value)
            )
        depth = get(mem, node + Frame.DEPTH)
        distance = get(mem, node + Frame.DISTANCE)
        key = hash_position(mem, at)
        plies_left = get(shared, Option.PLIES_LEFT) - distance
        if depth >= plies_left:
            key = salt_key(key, plies_left)
        put(mem, node + Frame.KEY, key)
        prefetch_bucket(table, get(shared, Option.TABLE_MASK), key)
        value = find_settled_bound(mem, shared, rules, at)
        if value != UNSETTLED:
            return return_value(mem, at, value)
        hint = -1
        if get(shared, Option.HINTS) != 0:
            data = probe(table, get(shared, Option.TABLE_MASK), key)
            if data != 0:
                hint = stored_move(data)
                value = stored_value(data, distance)
                if (
                    stored_depth(data) == depth
                    and distance > 0
                    and get(shared, Option.TABLE) != 0
                    and decides_window(data, value, get(mem, node + Frame.ALPHA), get(mem, node + Frame.BETA))
                ):
                    put(mem, Register.ESTIMATES, get(mem, Register.ESTIMATES) + 1)
                    return return_value(mem, at, value)
        list_moves(mem, rules, at, distance)
        put(mem, node + Frame.FLOOR, get(mem, node + Frame.ALPHA))
        put(mem, node + Frame.BEST, -INFINITY)
        put(mem, node + Frame.BEST_MOVE, -1)
        put(mem, node + Frame.NEXT, 0)
        if hint >= 0 and distance > 0 and not move_hint_first(mem, node, hint):
            hint = -1
        put(mem, node + Frame.HINT, hint)
        return NEXT

    @inlined
    def list_moves(mem: Any, rules: Any, at: Any, distance: Any) -> None:
        """Write the moves of a node to its move list; at the root, only the moves that the caller wants searched."""
        node = at + words
        list_at = get(mem, Register.LISTS) + (at - FIRST) // frame_words * get(mem, Register.WIDTH)
        count = moves(rules, mem, at, list_at)
        put(mem, node + Frame.LIST, list_at)
        put(mem, node + Frame.COUNT, count)
        put(mem, node + Frame.ORDER, ListState.RAW)
        if distance == 0:
            count = get(mem, Register.CHOSEN)
            put(mem, node + Frame.COUNT, count)
            for i in range(count):
                put(mem, list_at + i, get(mem, get(mem, Register.ROOT) + i))
            # Only the search to depth 1 sorts the root's moves. For greater depths, the caller gives their order.
            if get(mem, node + Frame.DEPTH) > 1:
                put(mem, node + Frame.ORDER, ListState.FINAL)

    last = LastPlySearch(game, frame_words, list_moves, return_value)
    can_foresee, is_above_leaves, search_last_ply = (
        last.can_foresee,
        last.is_above_leaves,
        last.search_last_ply,
    )

    @inlined
    def next_move(mem: Any, shared: Any, rules: Any) -> Any:
        """Choose the next move of the node, or open a split point with the remaining moves if other threads are idle."""
        at = get(mem, Register.AT)
        node = at + words
        if get(mem, node + Frame.ROLE) != SplitPointRole.NONE:
            return next_shared_move(mem, shared, at)
        i = get(mem, node + Frame.NEXT)
        if i >= get(mem, node + Frame.COUNT) or skips_late_moves(mem, shared, node, i):
            return FINISH
        if get(mem, node + Frame.ORDER) == ListState.RAW and (i > 0 or get(mem, node + Frame.HINT) < 0):
            score_moves(mem, shared, rules, at)
        if get(mem, node + Frame.DEPTH) >= get(shared, Option.SPLIT_DEPTH):
            freeze_window(mem, shared, node, i)
            if (
                i > 0
                and atomic_load(shared, Shared.IDLE) > 0
                and (get(shared, Option.COURSE_FORM) == 0 or get(mem, node + Frame.FIXED_ALPHA) != UNFIXED)
                and open_split(mem, shared, at)
            ):
                return NEXT
        if get(mem, node + Frame.ORDER) == ListState.SCORED:
            pick_best(mem, node, i)
        move = get(mem, get(mem, node + Frame.LIST) + i)
        distance = get(mem, node + Frame.DISTANCE)
        exact = get(shared, Option.EXACT)
        edge = value_to_exceed(
            get(mem, node + Frame.ALPHA), get(mem, node + Frame.BEST_MOVE), move, distance, exact
        )
        fixed = get(mem, node + Frame.FIXED_ALPHA)
        if fixed != UNFIXED:
            edge = value_to_exceed(fixed, get(mem, node + Frame.FIXED_MOVE), move, distance, exact)
        put(mem, node + Frame.NEXT, i + 1)
        put(mem, node + Frame.MOVE, move)
        put(mem, node + Frame.THRESHOLD, edge)
        put(mem, node + Frame.RANK, i)
        return BEGIN

    @inlined
    def freeze_window(mem: Any, shared: Any, node: Any, i: Any) -> None:
        """In the course's form of Jamboree, keep the window after floor(prune × n) moves for all later ones."""
        first = get(shared, Option.PRUNE) * get(mem, node + Frame.COUNT) // 1000
        if get(shared, Option.COURSE_FORM) != 0 and i == first:
            put(mem, node + Frame.FIXED_ALPHA, get(mem, node + Frame.ALPHA))
            put(mem, node + Frame.FIXED_MOVE, get(mem, node + Frame.BEST_MOVE))

    @inlined
    def begin_move(mem: Any, shared: Any, rules: Any) -> Any:
        """Begin to search MOVE, which is number RANK in the search order, to find whether its value exceeds THRESHOLD."""
        at = get(mem, Register.AT)
        node = at + words
        i = get(mem, node + Frame.RANK)
        to = at + frame_words
        edge = get(mem, node + Frame.THRESHOLD)
        beta = get(mem, node + Frame.BETA)
        play(rules, mem, at, to, get(mem, node + Frame.MOVE))
        distance = get(mem, node + Frame.DISTANCE) + 1
        depth = get(mem, node + Frame.DEPTH) - 1
        put(mem, node + Frame.WINDOW, SearchWindow.FULL)
        ended = status(rules, mem, to)
        if ended != PLAYING:
            put(mem, Register.NODES, get(mem, Register.NODES) + 1)
            put(mem, Register.VALUE, compute_end_value(ended, distance))
            return GOT
        if distance >= get(shared, Option.PLIES_LEFT):
            put(mem, Register.NODES, get(mem, Register.NODES) + 1)
            put(mem, Register.VALUE, 0)
            return GOT
        if depth <= 0:
            put(mem, Register.NODES, get(mem, Register.NODES) + 1)
            put(mem, Register.ESTIMATES, get(mem, Register.ESTIMATES) + 1)
            put(mem, Register.VALUE, -estimate(rules, mem, to) - get(shared, Option.TEMPO))
            return GOT
        high = beta
        fixed = get(mem, node + Frame.FIXED_ALPHA) != UNFIXED
        if i > 0 and beta - edge > 1 and get(shared, Option.NULL_WINDOWS) != 0 and not fixed:
            put(mem, node + Frame.WINDOW, SearchWindow.NULL)
            high = edge + 1
        return enter_child(mem, at, depth, edge, high)

    @inlined
    def receive_value(mem: Any, shared: Any) -> Any:
        """Compare the value of MOVE with THRESHOLD. After a test between alpha and beta, search the move again."""
        at = get(mem, Register.AT)
        node = at + words
        value = get(mem, Register.VALUE)
        edge = get(mem, node + Frame.THRESHOLD)
        beta = get(mem, node + Frame.BETA)
        shared_node = get(mem, node + Frame.ROLE) != SplitPointRole.NONE
        stage = get(mem, node + Frame.WINDOW)
        if shared_node:
            report_value(mem, shared, at, value, stage != SearchWindow.FULL)
            return NEXT
        if stage == SearchWindow.NULL and value > edge and value < beta:
            put(mem, node + Frame.WINDOW, SearchWindow.FULL)
            return enter_child(mem, at, get(mem, node + Frame.DEPTH) - 1, edge, beta)
        if value > get(mem, node + Frame.BEST):
            put(mem, node + Frame.BEST, value)
        if value > edge:
            return update_best(mem, shared, node, value, beta)
        return NEXT

    @inlined
    def update_best(mem: Any, shared: Any, node: Any, value: Any, beta: Any) -> Any:
        """Make MOVE, whose value exceeds THRESHOLD, the best move of the node, unless a better one was found meanwhile."""
        move = get(mem, node + Frame.MOVE)
        fixed = get(mem, node + Frame.FIXED_ALPHA) != UNFIXED
        if fixed:
            distance = get(mem, node + Frame.DISTANCE)
            best_move = get(mem, node + Frame.BEST_MOVE)
            alpha = get(mem, node + Frame.ALPHA)
            if value <= value_to_exceed(alpha, best_move, move, distance, get(shared, Option.EXACT)):
                return NEXT
        put(mem, node + Frame.ALPHA, value)
        put(mem, node + Frame.BEST_MOVE, move)
        if value >= beta and not fixed:
            return FINISH
        return NEXT

    @inlined
    def finish_node(mem: Any, shared: Any, table: Any, helping: Any) -> Any:
        """Store the node's value in the transposition table, and return it to the parent; at the root, end the search."""
        at = get(mem, Register.AT)
        node = at + words
        best = get(mem, node + Frame.BEST)
        chosen = at == FIRST and helping == 0 and get(mem, Register.IS_RESTRICTED) != 0
        if get(shared, Option.HINTS) != 0 and not chosen:
            bound = EXACT
            move = get(mem, node + Frame.BEST_MOVE)
            if best >= get(mem, node + Frame.BETA):
                bound = LOWER
            elif best <= get(mem, node + Frame.FLOOR):
                bound = UPPER
                move = get(mem, node + Frame.HINT)
            store_entry(
                table,
                get(shared, Option.TABLE_MASK),
                get(mem, node + Frame.KEY),
                best,
                get(mem, node + Frame.DISTANCE),
                get(mem, node + Frame.DEPTH),
                bound,
                move,
                get(shared, Option.GENERATION),
            )
        if at == FIRST and helping == 0:
            return DONE
        return return_value(mem, at, best)

    @inlined
    def next_shared_move(mem: Any, shared: Any, at: Any) -> Any:
        """Take the next move of a split point. If none is left, leave the split point, or wait for its helpers."""
        node = at + words
        if take_move(mem, shared, at):
            # A claimed move is searched with the whole window, like a node's first move.
            place = get(mem, node + Frame.INDEX) + get(shared, get(mem, node + Frame.SPLIT) + Split.SKIPPED)
            put(mem, node + Frame.RANK, 0 if get(mem, node + Frame.CLAIMED) != 0 else place)
            put(mem, Register.FAILED_LOOKS, 0)
            return BEGIN
        if get(mem, node + Frame.ROLE) == SplitPointRole.HELPER:
            return IDLE if leave_split(mem, shared, at) else NEXT
        if close_split(mem, shared, at):
            return FINISH
        if is_interrupted_outside(mem, shared, node):
            return UNWIND
        wait_for_helpers(mem, shared, at)
        return NEXT

    @inlined
    def unwind(mem: Any, shared: Any) -> Any:
        """Leave the frame of an interrupted node without a result. Continue the search at a node that is not interrupted."""
        at = get(mem, Register.AT)
        node = at + words
        role = get(mem, node + Frame.ROLE)
        if role == SplitPointRole.HELPER:
            if leave_split(mem, shared, at):
                return IDLE
            return UNWIND if is_interrupted(mem, shared) else NEXT
        if role == SplitPointRole.OWNER:
            atomic_store(shared, get(mem, node + Frame.SPLIT) + Split.CUT, 1)
            while not close_split(mem, shared, at):
                yield_core()
            if not is_interrupted(mem, shared):
                return FINISH
        if at == FIRST:
            return STOPPED
        put(mem, Register.AT, at - frame_words)
        return UNWIND

    def search(mem: Any, shared: Any, rules: Any, table: Any, helping: Any) -> Any:
        mode = IDLE if helping != 0 else ENTER
        while True:
            if mode == NEXT:
                mode = next_move(mem, shared, rules)
            elif mode == BEGIN:
                mode = begin_move(mem, shared, rules)
            elif mode == GOT:
                mode = receive_value(mem, shared)
            elif mode == ENTER:
                mode = enter_node(mem, shared, rules, table)
            elif mode == FINISH:
                mode = finish_node(mem, shared, table, helping)
            elif mode == UNWIND:
                mode = unwind(mem, shared)
            elif mode == IDLE:
                mode = NEXT if wait_for_work(mem, shared) else STOPPED
            else:
                return mode

    return compile_kernel(search, f"search-{game.name}")
