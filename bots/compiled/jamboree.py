"""Jamboree on threads: split points that idle threads join.

The first moves of a node are searched by the thread that entered it. If other threads are idle, it opens a split
point with the remaining moves. Each participating thread takes the next move, searches it, and reports its value. In
the original form (Joerg and Kuszmaul) each move is first tested with a null window. If a test does not exceed alpha,
the move is done. If it reaches beta, the node is cut, and all threads below the split point notice this at their next
poll and return. A value in between is only a bound: the move is searched again with the whole window after
all moves before it are done, one at a time. In the course's form (001, section 6) every move gets the
window that the sequential part left, and the threads share no bounds.

An owner who waits for helpers only takes work of split points below its own, so that it returns when
they do. A split point's fields change only under its lock.
"""

from __future__ import annotations

from typing import Any

from arena.bots.compiled.cache import inlined
from arena.bots.compiled.intrinsics import fetch_add, get, peek, poke, put, relax, rest, swap
from arena.bots.compiled.kernel import Kernel
from arena.bots.compiled.layout import (
    FIRST,
    SPLITS,
    UNFIXED,
    Frame,
    Option,
    Order,
    Register,
    Role,
    Shared,
    Split,
    SplitMove,
    State,
)

_SPINS = 64
"""Number of spins on a lock before a thread yields its core."""
PATIENCE = 2000
"""Number of looks for work before an idle thread yields its core, which takes about 0.1 ms.

Work arrives within microseconds, but another program keeps a yielded core for milliseconds.
"""


@inlined
def lock(shared: Any, split: Any) -> None:
    """Wait for the split point's lock, and acquire it."""
    spins = 0
    while swap(shared, split + Split.LOCK, 1) != 0:
        while peek(shared, split + Split.LOCK) != 0:
            spins += 1
            if spins >= _SPINS:
                rest()


@inlined
def unlock(shared: Any, split: Any) -> None:
    """Release the lock. The next thread that acquires it sees all writes made under it."""
    poke(shared, split + Split.LOCK, 0)


@inlined
def interrupted(mem: Any, shared: Any) -> Any:
    """Return True if all threads must stop, or if a split point above this thread's work was cut."""
    if peek(shared, Shared.STOP) != 0:
        return True
    split = get(mem, Register.INSIDE)
    while split >= 0:
        if peek(shared, split + Split.CUT) != 0:
            return True
        split = get(shared, split + Split.PARENT)
    return False


@inlined
def is_below(shared: Any, split: Any, above: Any) -> Any:
    """Return True if `split` was opened by work under `above`; everything is below -1."""
    if above < 0:
        return True
    parent = get(shared, split + Split.PARENT)
    while parent >= 0:
        if parent == above:
            return True
        parent = get(shared, parent + Split.PARENT)
    return False


@inlined
def edge_of(best: Any, best_move: Any, move: Any, distance: Any, exact: Any) -> Any:
    """Return the value that the move must exceed to be the best.

    At the root of an exact search, a move that comes earlier in move order needs only an equal value.
    """
    return best - 1 if exact != 0 and distance == 0 and move < best_move else best


class SplitPoints:
    """Functions of split points, for one game."""

    def __init__(self, kernel: Kernel, frame_words: int, pick: Any) -> None:
        words = kernel.words
        position_at = int(Split.END)
        choices_at = position_at + words

        @inlined
        def choice(split: Any, i: Any) -> Any:
            return split + choices_at + i * SplitMove.END

        @inlined
        def open_split(mem: Any, shared: Any, at: Any) -> Any:
            """Open a split point with the moves from NEXT on. Return False if this thread owns too many."""
            node = at + words
            split_words = get(shared, Option.SPLIT_WORDS)
            split = Shared.SPLITS + get(mem, Register.THREAD) * SPLITS * split_words
            tried = 0
            while tried < SPLITS and peek(shared, split + Split.OPEN) != 0:
                split += split_words
                tried += 1
            if tried == SPLITS:
                return False
            begun = get(mem, node + Frame.NEXT)
            count = get(mem, node + Frame.COUNT) - begun
            list_at = get(mem, node + Frame.LIST) + begun
            scored = get(mem, node + Frame.ORDER) == Order.SCORED
            # another thread may still be checking whether it is open
            lock(shared, split)
            for i in range(count):
                if scored:
                    pick(mem, node, begun + i)
                put(shared, choice(split, i) + SplitMove.MOVE, get(mem, list_at + i))
                put(shared, choice(split, i) + SplitMove.STATE, State.OPEN)
            put(mem, node + Frame.ORDER, Order.FINAL)
            for i in range(words):
                put(shared, split + position_at + i, get(mem, at + i))
            put(shared, split + Split.CUT, 0)
            put(shared, split + Split.MEMBERS, 1)
            put(shared, split + Split.PARENT, get(mem, Register.INSIDE))
            put(shared, split + Split.NEXT, 0)
            put(shared, split + Split.COUNT, count)
            put(shared, split + Split.PREFIX, 0)
            put(shared, split + Split.SEARCHING, 0)
            put(shared, split + Split.ALPHA, get(mem, node + Frame.ALPHA))
            put(shared, split + Split.BETA, get(mem, node + Frame.BETA))
            put(shared, split + Split.BEST, get(mem, node + Frame.BEST))
            put(shared, split + Split.BEST_MOVE, get(mem, node + Frame.BEST_MOVE))
            put(shared, split + Split.DEPTH, get(mem, node + Frame.DEPTH))
            put(shared, split + Split.DISTANCE, get(mem, node + Frame.DISTANCE))
            put(shared, split + Split.FIXED, get(mem, node + Frame.FIXED))
            put(shared, split + Split.FIXED_MOVE, get(mem, node + Frame.FIXED_MOVE))
            put(shared, split + Split.SKIPPED, begun)
            put(shared, split + Split.OPEN, 1)
            unlock(shared, split)
            put(mem, node + Frame.NEXT, begun + count)
            put(mem, node + Frame.OUTER, get(mem, Register.INSIDE))
            put(mem, node + Frame.SPLIT, split)
            put(mem, node + Frame.ROLE, Role.OWNER)
            put(mem, Register.INSIDE, split)
            return True

        @inlined
        def close_split(mem: Any, shared: Any, at: Any) -> Any:
            """Let the owner take the result if no helper is left. Return True if it did."""
            node = at + words
            split = get(mem, node + Frame.SPLIT)
            lock(shared, split)
            alone = get(shared, split + Split.MEMBERS) == 1
            if alone:
                put(mem, node + Frame.ALPHA, get(shared, split + Split.ALPHA))
                put(mem, node + Frame.BEST, get(shared, split + Split.BEST))
                put(mem, node + Frame.BEST_MOVE, get(shared, split + Split.BEST_MOVE))
                put(mem, node + Frame.ROLE, Role.NONE)
                put(mem, Register.INSIDE, get(mem, node + Frame.OUTER))
                put(shared, split + Split.OPEN, 0)
            unlock(shared, split)
            return alone

        @inlined
        def claim_again(mem: Any, shared: Any, split: Any, node: Any) -> Any:
            """Claim the move to be searched again if it is its turn. Return True if claimed."""
            count = get(shared, split + Split.COUNT)
            i = get(shared, split + Split.PREFIX)
            while i < count and get(shared, choice(split, i) + SplitMove.STATE) == State.DONE:
                i += 1
            put(shared, split + Split.PREFIX, i)
            if (
                i == count
                or get(shared, choice(split, i) + SplitMove.STATE) != State.PENDING
                or get(shared, split + Split.SEARCHING) != 0
            ):
                return False
            best = get(shared, split + Split.ALPHA)
            move = get(shared, choice(split, i) + SplitMove.MOVE)
            distance = get(shared, split + Split.DISTANCE)
            best_move = get(shared, split + Split.BEST_MOVE)
            edge = edge_of(best, best_move, move, distance, get(shared, Option.EXACT))
            # if alpha has risen since the test, test again before searching with the whole window
            claimed = 1 if get(shared, choice(split, i) + SplitMove.TESTED) >= edge else 0
            put(shared, split + Split.SEARCHING, claimed)
            put(shared, choice(split, i) + SplitMove.STATE, State.RUNNING)
            put(mem, node + Frame.CLAIMED, claimed)
            put(mem, node + Frame.INDEX, i)
            put(mem, node + Frame.MOVE, move)
            put(mem, node + Frame.EDGE, edge)
            return True

        @inlined
        def take(mem: Any, shared: Any, at: Any) -> Any:
            """Take the next move to search into MOVE, INDEX, EDGE and CLAIMED. Return False if there is none."""
            node = at + words
            split = get(mem, node + Frame.SPLIT)
            found = False
            lock(shared, split)
            if get(shared, split + Split.CUT) == 0:
                found = claim_again(mem, shared, split, node)
                i = get(shared, split + Split.NEXT)
                if not found and i < get(shared, split + Split.COUNT):
                    found = True
                    move = get(shared, choice(split, i) + SplitMove.MOVE)
                    fixed = get(shared, split + Split.FIXED)
                    course = fixed != UNFIXED
                    best = fixed if course else get(shared, split + Split.ALPHA)
                    best_move = get(shared, split + (Split.FIXED_MOVE if course else Split.BEST_MOVE))
                    distance = get(shared, split + Split.DISTANCE)
                    put(shared, split + Split.NEXT, i + 1)
                    put(shared, choice(split, i) + SplitMove.STATE, State.RUNNING)
                    put(mem, node + Frame.CLAIMED, 0)
                    put(mem, node + Frame.INDEX, i)
                    put(mem, node + Frame.MOVE, move)
                    put(
                        mem,
                        node + Frame.EDGE,
                        edge_of(best, best_move, move, distance, get(shared, Option.EXACT)),
                    )
            unlock(shared, split)
            return found

        @inlined
        def report(mem: Any, shared: Any, at: Any, value: Any, tested: Any) -> None:
            """Report the value of MOVE to the split point. `tested` is True after a null-window search only."""
            node = at + words
            split = get(mem, node + Frame.SPLIT)
            move = get(mem, node + Frame.MOVE)
            place = choice(split, get(mem, node + Frame.INDEX))
            edge = get(mem, node + Frame.EDGE)
            lock(shared, split)
            if get(mem, node + Frame.CLAIMED) != 0:
                put(shared, split + Split.SEARCHING, 0)
            if get(shared, split + Split.CUT) == 0:
                best_move = get(shared, split + Split.BEST_MOVE)
                alpha = get(shared, split + Split.ALPHA)
                now = edge_of(
                    alpha, best_move, move, get(shared, split + Split.DISTANCE), get(shared, Option.EXACT)
                )
                beta = get(shared, split + Split.BETA)
                put(shared, place + SplitMove.STATE, State.DONE)
                if value > edge and tested and value < beta:
                    put(shared, place + SplitMove.STATE, State.PENDING)
                    put(shared, place + SplitMove.TESTED, edge)
                else:
                    if value > get(shared, split + Split.BEST):
                        put(shared, split + Split.BEST, value)
                    if value > edge and value > now:
                        put(shared, split + Split.BEST_MOVE, move)
                        put(shared, split + Split.ALPHA, value)
                        if value >= beta and get(shared, split + Split.FIXED) == UNFIXED:
                            poke(shared, split + Split.CUT, 1)
            unlock(shared, split)

        @inlined
        def has_work(shared: Any, split: Any) -> Any:
            return (
                peek(shared, split + Split.OPEN) != 0
                and peek(shared, split + Split.CUT) == 0
                and peek(shared, split + Split.NEXT) < get(shared, split + Split.COUNT)
            )

        @inlined
        def join(mem: Any, shared: Any, at: Any, split: Any, above: Any) -> Any:
            """Become a helper, with frame `at` as this thread's view of the node. Return True on success."""
            node = at + words
            joined = False
            lock(shared, split)
            if has_work(shared, split) and is_below(shared, split, above):
                joined = True
                put(shared, split + Split.MEMBERS, get(shared, split + Split.MEMBERS) + 1)
                for i in range(words):
                    put(mem, at + i, get(shared, split + position_at + i))
                put(mem, node + Frame.DEPTH, get(shared, split + Split.DEPTH))
                put(mem, node + Frame.DISTANCE, get(shared, split + Split.DISTANCE))
                put(mem, node + Frame.BETA, get(shared, split + Split.BETA))
                put(mem, node + Frame.FIXED, get(shared, split + Split.FIXED))
                put(mem, node + Frame.OUTER, get(mem, Register.INSIDE))
                put(mem, node + Frame.SPLIT, split)
                put(mem, node + Frame.ROLE, Role.HELPER)
                put(mem, Register.INSIDE, split)
                put(mem, Register.AT, at)
            unlock(shared, split)
            return joined

        @inlined
        def find_work(mem: Any, shared: Any, at: Any, above: Any) -> Any:
            """Join the split point below `above` with the deepest remaining search. Return True if joined."""
            chosen = -1
            deepest = 0
            split_words = get(shared, Option.SPLIT_WORDS)
            split = Shared.SPLITS + 0
            for _ in range(get(shared, Option.THREADS) * SPLITS):
                if has_work(shared, split) and get(shared, split + Split.DEPTH) > deepest:
                    deepest = get(shared, split + Split.DEPTH)
                    chosen = split
                split += split_words
            return chosen >= 0 and join(mem, shared, at, chosen, above)

        @inlined
        def leave(mem: Any, shared: Any, at: Any) -> Any:
            """End this helper's work. Return True if frame `at` was the last on this thread's stack."""
            node = at + words
            split = get(mem, node + Frame.SPLIT)
            put(mem, Register.INSIDE, get(mem, node + Frame.OUTER))
            put(mem, node + Frame.ROLE, Role.NONE)
            lock(shared, split)
            put(shared, split + Split.MEMBERS, get(shared, split + Split.MEMBERS) - 1)
            unlock(shared, split)
            if at == FIRST:
                return True
            put(mem, Register.AT, at - frame_words)
            return False

        @inlined
        def linger(mem: Any, shared: Any, at: Any) -> None:
            """Let an owner without work take some from below, or wait briefly."""
            node = at + words
            split = get(mem, node + Frame.SPLIT)
            if find_work(mem, shared, at + frame_words, split):
                return
            fetch_add(shared, Shared.IDLE, 1)
            spins = 0
            while spins < _SPINS and peek(shared, split + Split.MEMBERS) > 1:
                relax()
                spins += 1
            waited = get(mem, Register.WAITED) + spins
            put(mem, Register.WAITED, waited)
            if spins == _SPINS and waited >= PATIENCE:
                rest()
            fetch_add(shared, Shared.IDLE, -1)

        @inlined
        def wait_for_work(mem: Any, shared: Any) -> Any:
            """Let a helper without work look for some. Return False if it must quit."""
            put(mem, Register.INSIDE, -1)
            fetch_add(shared, Shared.IDLE, 1)
            found = False
            spins = 0
            while not found and peek(shared, Shared.QUIT) == 0:
                if peek(shared, Shared.STOP) == 0 and find_work(mem, shared, FIRST, -1):
                    found = True
                elif spins < PATIENCE:
                    relax()
                    spins += 1
                else:
                    rest()
            fetch_add(shared, Shared.IDLE, -1)
            return found

        @inlined
        def interrupted_outside(mem: Any, shared: Any, node: Any) -> Any:
            """Return True if more than the split point of this owner's frame is interrupted."""
            inside = get(mem, Register.INSIDE)
            put(mem, Register.INSIDE, get(mem, node + Frame.OUTER))
            found = interrupted(mem, shared)
            put(mem, Register.INSIDE, inside)
            return found

        self.open_split = open_split
        self.close_split = close_split
        self.take = take
        self.report = report
        self.leave = leave
        self.linger = linger
        self.wait_for_work = wait_for_work
        self.interrupted_outside = interrupted_outside


__all__ = ["SplitPoints", "edge_of", "interrupted"]
